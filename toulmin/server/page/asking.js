// The question, how it is to be answered, and the answer below it as it comes.

import { html, useEffect, useRef, useState } from "./lib.js";
import { ask } from "./api.js";
import { Answer } from "./answer.js";
import { forget, remember, remembered } from "./history.js";
import { useRunning } from "./running.js";

const STYLES = { long: "Cited sentences", short: "One short answer", list: "A list", report: "A report" };
const POLICIES = { flag: "show it with its verdict", drop: "leave it out", keep: "keep it" };

/** `methods` are the server's; `id` is an answer to show, from a link. */
export function Asking({ methods, id }) {
  const [past, setPast] = useState(remembered);
  const [state, begin, stop] = useRunning((answer) => {
    remember(answer);
    setPast(remembered());
    history.replaceState(null, "", `#/answer/${encodeURIComponent(answer.id)}`);
  });
  const [kept, setKept] = useState(null);
  const [before, setBefore] = useState([]); // the conversation's answers before the one that is shown
  const [settings, setSettings] = useState({});
  useEffect(() => {
    setKept(null);
    if (!id || id === state.id) return;
    setBefore([]);
    load(id, setKept);
  }, [id]);
  const send = (asked, talk) => {
    setKept(null);
    setBefore(talk);
    begin("/v1/answers", { ...asked, history: talk.map(turn) });
  };
  const start = ({ question, ...chosen }) => {
    setSettings(chosen);
    send({ ...chosen, question }, []);
  };
  const shown = kept && kept.answer ? { ...kept, isDone: true } : state;
  const talk = shown.answer ? [...before, shown.answer] : before;
  return html`
    <${Form} methods=${methods} isRunning=${!state.isDone} start=${start} stop=${stop} />
    ${before.map((one) => html`<details class="turn" key=${one.id}><summary dir="auto">${one.question}</summary><${Answer} answer=${one} /></details>`)}
    ${kept && kept.problem && html`<${Problem} text=${kept.problem} />`}
    ${state.problem && html`<${Problem} text=${state.problem} />`}
    ${!state.isDone && !state.answer && html`<p class="summary quiet" role="status">Searching …</p>`}
    ${shown.answer && html`<h2 class="question" dir="auto">${shown.answer.question}</h2>
      ${shown.answer.asked && html`<p class="asked"><span class="quiet">You asked: <bdi>“${shown.answer.asked}”</bdi></span>
        ${shown.isDone && html` <button class="small" onClick=${() => send({ ...settings, question: shown.answer.asked, rewrite: false }, before)}>Ask exactly as typed</button>`}</p>`}
      <${Answer} answer=${shown.answer} isDone=${shown.isDone} />`}
    ${state.isDone && talk.length > 0 && html`<${Follow} key=${talk.length} ask=${(question) => send({ ...settings, question }, talk)} />`}
    ${!shown.answer && state.isDone && html`<${Past} past=${past} clear=${() => (forget(), setPast([]))} />`}
  `;
}

function turn(answer) {
  return { question: answer.question, answer: answer.text, id: answer.id };
}

function Follow({ ask }) {
  const send = (event) => {
    event.preventDefault();
    const question = new FormData(event.target).get("follow").trim();
    if (question) ask(question);
  };
  return html`<form class="ask follow" onSubmit=${send}>
    <label for="follow">Ask a follow-up</label>
    <div class="row"><input id="follow" name="follow" class="wide" autocomplete="off" maxlength="100000" /><button class="main">Ask on</button></div>
    <p class="quiet">It is read in the light of what was asked before. The field at the top begins a new conversation.</p>
  </form>`;
}

async function load(id, setKept) {
  try {
    setKept({ answer: await ask("GET", `/v1/answers/${encodeURIComponent(id)}`) });
  } catch (error) {
    setKept({ problem: error.message });
  }
}

function Form({ methods, isRunning, start, stop }) {
  const field = useRef(null);
  useEffect(() => field.current.focus(), []);
  const send = (event) => {
    event.preventDefault();
    const given = Object.fromEntries([...new FormData(event.target.closest("form"))].filter(([, value]) => value !== ""));
    if (!given.question || !given.question.trim()) return;
    for (const name of ["k", "max_calls", "deadline"]) if (given[name]) given[name] = Number(given[name]);
    start(given);
  };
  return html`<form class="ask" onSubmit=${send}>
    <label class="unseen" for="question">Your question</label>
    <textarea id="question" name="question" rows="2" ref=${field} placeholder="What do you want to know from your documents?" maxlength="100000"
      onKeyDown=${(event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && send(event)}></textarea>
    <div class="row">
      <label>Style <select name="style"><option value="">as the method does</option>${Object.entries(STYLES).map(([value, told]) => html`<option value=${value}>${told}</option>`)}</select></label>
      <label>Method <select name="method"><option value="">best</option>${methods.filter((one) => one.name !== "best").map((one) => html`<option value=${one.name}>${one.name}</option>`)}</select></label>
      ${isRunning ? html`<button key="stop" type="button" class="main" onClick=${stop}>Stop</button>` : html`<button key="go" class="main">Ask</button>`}
    </div>
    <details class="limits"><summary>Limits</summary>
      <div class="row">
        <label>What is not supported <select name="unsupported"><option value="">as set</option>${Object.entries(POLICIES).map(([value, told]) => html`<option value=${value}>${told}</option>`)}</select></label>
        <label>Passages <input type="number" name="k" min="1" max="200" inputmode="numeric" /></label>
        <label>Model calls <input type="number" name="max_calls" min="1" inputmode="numeric" /></label>
        <label>Seconds <input type="number" name="deadline" min="1" max="600" inputmode="numeric" /></label>
      </div>
    </details>
  </form>`;
}

/** What went wrong, as the server says it. */
export function Problem({ text }) {
  return html`<div class="verdict failed" role="alert"><strong>That did not work</strong><p>${text}</p></div>`;
}

function Past({ past, clear }) {
  if (!past.length) return html`<p class="hint quiet">Every sentence of an answer shows the passage that proves it. Choose a sentence to read it in its source.</p>`;
  return html`<section class="past">
    <h2>Earlier questions</h2>
    <ul>${past.map((one) => html`<li key=${one.id}><a href=${`#/answer/${encodeURIComponent(one.id)}`} dir="auto">${one.question}</a> <span class="quiet">${one.status === "answered" ? "" : one.status}</span></li>`)}</ul>
    <button class="small" onClick=${clear}>Forget them</button> <span class="quiet">They are kept in this browser only.</span>
  </section>`;
}
