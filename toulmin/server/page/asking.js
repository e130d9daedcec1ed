// The question, the way to answer it, and the answers of the conversation.

import { html, later, useEffect, useRef, useState } from "./lib.js";
import { ask } from "./api.js";
import { forget, remember, remembered } from "./history.js";
import { Only, filters } from "./only.js";
import { Progress } from "./progress.js";
import { useRunning } from "./running.js";
import { counted } from "./text.js";

// The start needs none of it; it comes while the first question is answered.
const answers = () => import("./answer.js");
const Answer = later(async () => (await answers()).Answer);
const FORMS = { long: "sentences", short: "one short answer", list: "a list", report: "a report" };
const POLICIES = { flag: "show it with its verdict", drop: "leave it out", keep: "keep it" };
const LOOK_AFTER = 10_000; // milliseconds between two looks at which answers' files changed
// What a reader chooses; the methods' own names are under "advanced".
const WAYS = {
  quick: { told: "answers with sentences of the documents, in a second or two", asks: {} },
  thorough: { told: "rates its answer and improves it until it gets no better", asks: { method: "a2r" } },
  report: { told: "plans parts and questions, then writes each part", asks: { method: "plan", style: "report" } },
};

/** `methods` are the server's; `id` is an answer to show, from a link; `changed` counts changes of the documents. */
export function Asking({ methods, id, changed }) {
  const [past, setPast] = useState(remembered);
  const [state, begin, stop] = useRunning((answer) => {
    remember(answer);
    setPast(remembered());
    history.replaceState(null, "", `#/answer/${encodeURIComponent(answer.id)}`);
  });
  const [kept, setKept] = useState(null);
  const [before, setBefore] = useState([]); // the conversation's answers before the one that is shown
  const [settings, setSettings] = useState({});
  const [asked, setAsked] = useState("");
  const [only, setOnly] = useState(""); // the filters as typed
  const heading = useRef(null);
  const show = (found) => {
    setKept(found);
    if (found.answer) setOnly(limitsOf(found.answer).join(", "));
  };
  useEffect(() => {
    setKept(null);
    if (!id || id === state.id) return;
    begin(null);
    setBefore([]);
    load(id, show);
  }, [id]);
  useEffect(() => {
    if (!state.isDone) heading.current?.scrollIntoView(); // it may be under many earlier questions
  }, [state.isDone]);
  const send = (question, talk, chosen, more = {}) => {
    answers();
    setKept(null);
    setBefore(talk);
    setSettings(chosen);
    setAsked(question);
    begin("/v1/answers", { ...chosen, question, ...more, history: talk.map(turn) });
  };
  const restart = () => {
    begin(null);
    setKept(null);
    setBefore([]);
    setSettings({});
    location.hash = "#/ask";
  };
  const shown = kept && kept.answer ? { ...kept, isDone: true } : state;
  const { answer } = shown;
  const talk = answer && !shown.problem ? [...before, answer] : before; // what broke off is asked again, not followed
  const isLoading = Boolean(id) && !kept && state.id !== id;
  const isTalking = isLoading || talk.length > 0 || !state.isDone || Boolean(state.problem);
  const limits = answer ? limitsOf(answer) : settings.only || [];
  const again = (question) => send(question, before, { ...settings, only: limits }, { rewrite: false });
  return html`<div class=${isTalking ? "talk" : "fresh"}>
    ${!isTalking && html`<h1 class="welcome">Ask your documents</h1>`}
    ${before.map((one) => html`<details class="turn" key=${one.id}><summary dir="auto">${one.question}</summary><${Answer} answer=${one} beside=${false} /></details>`)}
    ${kept && kept.problem && html`<${Problem} text=${kept.problem} />`}
    ${(!state.isDone || answer) && html`<h1 class="question" dir="auto" ref=${heading}>${answer ? answer.question : asked}</h1>`}
    ${answer?.asked && html`<${Reading} key=${answer.id} answer=${answer} isDone=${shown.isDone} again=${again} />`}
    ${!state.isDone && html`<${Progress} answer=${state.answer} />`}
    ${shown.problem && html`<${Problem} text=${shown.problem} />`}
    ${answer && html`<${Answer} answer=${answer} isDone=${shown.isDone} isKept=${answer === kept?.answer} />`}
    <${Form} key="form" methods=${methods} isRunning=${!state.isDone} isTalking=${isTalking} isFollow=${talk.length > 0} hasAnswer=${answer?.claims.length > 0} isLimited=${limits.length > 0}
      only=${only} setOnly=${setOnly} failed=${shown.problem ? asked : ""} start=${(question, chosen) => send(question, talk, chosen)} stop=${stop} restart=${restart} />
    ${!isTalking && html`<${Start} key=${`start ${changed}`} ask=${(question) => send(question, [], { only: filters(only) })} /><${Past} past=${past} clear=${() => (forget(), setPast([]))} />`}
  </div>`;
}

/** The filters that an answer was limited by. */
function limitsOf(answer) {
  return answer.settings.only || [];
}

function turn(answer) {
  return { question: answer.question, answer: answer.text, id: answer.id };
}

/** The rewritten question; a reader corrects it, or asks it as typed. */
function Reading({ answer, isDone, again }) {
  const [isEdited, setIsEdited] = useState(false);
  const send = (event) => {
    event.preventDefault();
    const question = new FormData(event.target).get("reading").trim();
    if (question) again(question);
  };
  if (isEdited) {
    return html`<form class="row reading-of" onSubmit=${send}><label class="unseen" for="reading">The question to answer</label>
      <input id="reading" name="reading" class="wide" value=${answer.question} maxlength="100000" autofocus /><button class="small">Ask this</button>
      <button type="button" class="small" onClick=${() => setIsEdited(false)}>Cancel</button></form>`;
  }
  return html`<p class="asked"><span class="quiet">You asked: <bdi>“${answer.asked}”</bdi>, read as above.</span>
    ${isDone && html` <button class="small" onClick=${() => setIsEdited(true)}>Change how it is read</button> <button class="small" onClick=${() => again(answer.asked)}>Ask exactly as typed</button>`}</p>`;
}

async function load(id, show) {
  try {
    show({ answer: await ask("GET", `/v1/answers/${encodeURIComponent(id)}`) });
  } catch (error) {
    show({ problem: error.message });
  }
}

/** The one field: it asks the first question, then goes on under the newest answer; `failed` is a question to ask again. */
function Form({ methods, isRunning, isTalking, isFollow, hasAnswer, isLimited, only, setOnly, failed, start, stop, restart }) {
  const field = useRef(null);
  const [isEmpty, setIsEmpty] = useState(false);
  const [way, setWay] = useState("quick");
  const [isOpen, setIsOpen] = useState(false); // in a conversation the options are shown on request
  useEffect(() => field.current.focus(), []);
  useEffect(() => {
    if (failed && !field.current.value) field.current.value = failed;
  }, [failed]);
  const send = (event) => {
    event.preventDefault();
    if (isRunning) return; // what is typed meanwhile waits
    const { question = "", way, only = "", ...chosen } = Object.fromEntries([...new FormData(event.target.closest("form"))].filter(([, value]) => value !== ""));
    setIsEmpty(!question.trim());
    if (!question.trim()) return field.current.focus();
    for (const name of ["k", "max_calls", "deadline"]) if (chosen[name]) chosen[name] = Number(chosen[name]);
    field.current.value = "";
    setIsOpen(false);
    start(question, { ...WAYS[way].asks, ...chosen, only: filters(only) });
  };
  const halt = (event) => (event.preventDefault(), stop());
  const leave = () => (setIsOpen(false), setIsEmpty(false), restart(), field.current.focus());
  const isHidden = isTalking && !isOpen;
  const words = isFollow ? "Ask a follow-up" : "What do you want to know from your documents?";
  return html`<form class="ask" onSubmit=${send}>
    ${hasAnswer && html`<button type="button" class="skip" onClick=${toAnswer}>To the answer</button>`}
    <label class="unseen" for="question">${isFollow ? "Your next question" : "Your question"}</label>
    <div class="line">
      <textarea id="question" name="question" rows=${isTalking ? 1 : 2} ref=${field} placeholder=${words} maxlength="100000" aria-describedby=${isEmpty ? "empty" : undefined} aria-invalid=${isEmpty || undefined}
        onKeyDown=${(event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && send(event)}></textarea>
      ${/* one button, so that the focus stays on it */ ""}
      <button class="main" type=${isRunning ? "button" : "submit"} onClick=${isRunning ? halt : undefined}>${isRunning ? "Stop" : "Ask"}</button>
    </div>
    ${isEmpty && html`<p id="empty" class="bad" role="alert">Write a question first.</p>`}
    ${isTalking && html`<div class="row">
      <button type="button" class="small" aria-expanded=${isOpen} onClick=${() => setIsOpen(!isOpen)}>Options: ${way}</button>
      <button type="button" class="small" onClick=${leave}>New conversation</button>
    </div>`}
    <div class="row" hidden=${isHidden && !isLimited}>
      <fieldset class="ways" hidden=${isHidden}><legend class="unseen">How to answer</legend>${Object.entries(WAYS).map(([name, { told }]) => html`<label key=${name} title=${told}><input type="radio" name="way" value=${name} checked=${name === way} onChange=${() => setWay(name)} /><span>${name}</span></label>`)}</fieldset>
      <${Only} value=${only} set=${setOnly} />
    </div>
    <details class="limits" hidden=${isHidden}><summary>Advanced</summary>
      <ul class="quiet ways-told">${Object.entries(WAYS).map(([name, { told }]) => html`<li><strong>${name}</strong>: ${told}</li>`)}</ul>
      <div class="row">
        <label>Answer as <select name="style"><option value="">the usual form</option>${Object.entries(FORMS).map(([value, told]) => html`<option value=${value}>${told}</option>`)}</select></label>
        <label>A sentence that is not in the sources <select name="unsupported"><option value="">the server's default</option>${Object.entries(POLICIES).map(([value, told]) => html`<option value=${value}>${told}</option>`)}</select></label>
        <label>Method <select name="method"><option value="">as chosen above</option>${methods.map((one) => html`<option value=${one.name} title=${one.about}>${one.name}</option>`)}</select></label>
      </div>
      <div class="row">
        <label>Read at most <input type="number" name="k" min="1" max="200" inputmode="numeric" /> passages</label>
        <label>Ask a model at most <input type="number" name="max_calls" min="1" inputmode="numeric" /> times</label>
        <label>Take at most <input type="number" name="deadline" min="1" max="600" inputmode="numeric" /> seconds</label>
      </div>
    </details>
  </form>`;
}

/** To the sentence that is chosen, else to the first; the field stands behind all of them. */
function toAnswer() {
  document.querySelector(".question ~ .answer [data-claim][tabindex='0']")?.focus();
}

/** The server's error message. */
export function Problem({ text }) {
  return html`<div class="verdict failed" role="alert"><strong>That did not work</strong><p>${text}</p></div>`;
}

/** The searched documents, and example questions. */
function Start({ ask: put }) {
  const [known, setKnown] = useState(null);
  useEffect(() => {
    ask("GET", "/v1/examples").then(setKnown).catch(() => {}); // the sources may be no index
  }, []);
  if (!known) return null;
  const kinds = Object.entries(known.kinds).map(([kind, count]) => `${count} ${kind}`).join(", ");
  return html`<div class="start">
    <p>Searches <a href="#/sources">${counted(known.documents, "document")}</a> <span class="quiet">(${kinds})</span>. Every sentence of an answer shows its source.</p>
    ${known.examples.length > 0 && html`<h2 class="quiet">For example</h2>
      <ul class="plain examples">${known.examples.map((question) => html`<li key=${question}><button class="small" dir="auto" onClick=${() => put(question)}>${question}</button></li>`)}</ul>`}
  </div>`;
}

function Past({ past, clear }) {
  const [changed, setChanged] = useState({});
  useEffect(() => {
    const look = () => ask("GET", "/v1/rechecks").then((found) => setChanged(found.changed)).catch(() => {});
    look();
    const timer = setInterval(look, LOOK_AFTER);
    return () => clearInterval(timer);
  }, []);
  if (!past.length) return null;
  return html`<section class="past">
    <h2>Earlier questions</h2>
    <ul class="plain">${past.map((one) => html`<li key=${one.id}><a href=${`#/answer/${encodeURIComponent(one.id)}`} dir="auto">${one.question}</a> <span class="quiet">${one.status === "answered" ? "" : one.status === "abstained" ? "not in the documents" : one.status}</span> <${Since} change=${changed[one.id]} /></li>`)}</ul>
    <button class="small" onClick=${clear}>Forget them</button> <span class="quiet">They are kept in this browser only.</span>
  </section>`;
}

/** What became of an answer since a file that it cites changed. */
function Since({ change }) {
  if (!change?.claims) return null;
  const { claims, fallen } = change;
  const of = `${fallen} of ${counted(claims, "sentence")} no longer supported`;
  return html`<span class=${`since ${fallen ? "bad" : "quiet"}`}>${fallen ? `✗ changed since: ${of}` : "✓ changed since, still supported"}</span>`;
}
