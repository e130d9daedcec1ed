// A draft from elsewhere: its sentences judged in place, and repairs to take or leave.

import { html, useRef, useState } from "./lib.js";
import { Answer, Claim, walk } from "./answer.js";
import { download } from "./api.js";
import { Problem } from "./asking.js";
import { Only, filters } from "./only.js";
import { Progress } from "./progress.js";
import { useRunning } from "./running.js";
import { fails } from "./verdicts.js";
import { offset } from "./text.js";

const READABLE = ".txt,.md,.markdown,.rst,.tex,.html,.docx";
const MOST = 400_000; // characters

export function Checking() {
  const [checked, check, stopCheck] = useRunning();
  const [repaired, repair, stopRepair] = useRunning();
  const [draft, setDraft] = useState("");
  const [cited, setCited] = useState(""); // passages as typed
  const [only, setOnly] = useState(""); // filters as typed
  const [sent, setSent] = useState({ text: "" }); // what was judged
  const [taken, setTaken] = useState({}); // place of a claim -> whether its repair is taken
  const [problem, setProblem] = useState("");
  const [notice, setNotice] = useState("");
  const passages = passagesOf(cited);
  const isRunning = !checked.isDone || !repaired.isDone;
  const send = (event) => {
    event.preventDefault();
    if (!draft.trim()) return setProblem("Paste a text first, or open one.");
    setProblem("");
    const asked = { text: draft, ...(passages.length ? { passages } : { only: filters(only) }) };
    setSent(asked);
    setTaken({});
    repair(null);
    check("/v1/check", asked);
  };
  const open = async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    if (file.name.toLowerCase().endsWith(".docx")) return checkWord(file);
    const text = await file.text();
    if (text.includes("\0") || text.length > MOST) return setProblem(`${file.name} is no plain text of at most ${MOST.toLocaleString()} characters.`);
    setProblem("");
    setDraft(text);
  };
  const checkWord = async (file) => {
    setProblem("");
    setNotice(`Checking ${file.name} …`);
    try {
      await download("/v1/check/document", file.name.replace(/\.docx$/i, "-checked.docx"), "POST", file);
      setNotice(`${file.name}: the saved copy has a comment at each failing sentence.${only.trim() ? " A Word document is checked against all documents, whatever “Only” says." : ""}`);
    } catch (error) {
      setNotice("");
      setProblem(error.message);
    }
  };
  const stop = () => (stopCheck(), stopRepair());
  const answer = checked.answer;
  const repairs = repaired.answer && repaired.isDone ? repairsOf(repaired.answer) : null;
  const failing = answer ? answer.claims.filter(fails).length : 0;
  const draw = (drawn) => drawDraft({ ...drawn, text: sent.text, repairs, taken });
  return html`<div class=${answer || isRunning ? "" : "fresh"}>
    <h1 class=${answer ? "unseen" : "welcome"}>Check a draft against your documents</h1>
    <form class="ask check" onSubmit=${send}>
      <label for="text">A text to check</label>
      <textarea id="text" name="text" rows=${answer ? 3 : 8} maxlength=${MOST} value=${draft} onInput=${(event) => setDraft(event.target.value)} placeholder="Paste a text. [1] in it means the first passage below; without passages your documents are searched."></textarea>
      ${problem && html`<p class="bad" role="alert">${problem}</p>`}
      <details><summary>Passages that it cites</summary>
        <label class="unseen" for="passages">Passages, one a paragraph</label>
        <textarea id="passages" name="passages" rows="5" value=${cited} onInput=${(event) => setCited(event.target.value)} placeholder="One passage a paragraph, the first is [1]. A first line that ends with a colon is its title."></textarea>
      </details>
      ${!passages.length && html`<${Only} value=${only} set=${setOnly} />`}
      <div class="row">
        <label>Open a draft <input type="file" accept=${READABLE} onChange=${open} /></label>
        ${isRunning ? html`<button key="stop" type="button" class="main" onClick=${stop}>Stop</button>` : html`<button key="go" class="main">Check</button>`}
      </div>
      <p class="quiet" role="status">${notice}</p>
    </form>
    ${!checked.isDone && html`<${Progress} answer=${answer} />`}
    ${checked.problem && html`<${Problem} text=${checked.problem} />`}
    ${answer && html`<${Answer} answer=${answer} isDone=${checked.isDone} draw=${draw} />`}
    ${answer && checked.isDone && failing > 0 && !repairs && html`<p><button disabled=${!repaired.isDone} onClick=${() => repair("/v1/check", { ...sent, repair: true })}>Look for repairs</button> <span class="quiet">Nothing changes until you take a repair.</span></p>`}
    ${!repaired.isDone && html`<${Progress} answer=${repaired.answer} />`}
    ${repaired.problem && html`<${Problem} text=${repaired.problem} />`}
    ${repairs && html`<${Repairs} answer=${answer} repairs=${repairs} taken=${taken} take=${(n, is) => setTaken({ ...taken, [n]: is })} text=${sent.text} use=${setDraft} />`}
  </div>`;
}

/** The draft as it was typed, its sentences where they stand; taken repairs are shown in place. */
function drawDraft({ answer, chosen, choose, text, repairs, taken }) {
  const spans = spansOf(text, answer.claims);
  const pieces = [];
  let at = 0;
  spans.forEach((span, n) => {
    if (!span) return;
    pieces.push(text.slice(at, span.start));
    const repair = repairs?.get(n);
    const words = repair && taken[n] ? html`<s>${text.slice(span.start, span.end)}</s> <ins>${repair.words || "(left out)"}</ins>` : text.slice(span.start, span.end);
    pieces.push(html`<${Claim} key=${n} answer=${answer} n=${n} chosen=${chosen} choose=${choose} words=${words} />`);
    at = span.end;
  });
  return html`<div class="prose draft" dir="auto" onKeyDown=${walk}>${pieces}${text.slice(at)}</div>`;
}

/** Where each claim stands in the text, in UTF-16 units; null for one that the server did not place. */
function spansOf(text, claims) {
  return claims.map(({ place }) => place && { start: offset(text, place.line, place.column), end: offset(text, place.end_line, place.end_column) });
}

/** What a repair says of each claim, by its place: the words (empty: left out) and why. */
function repairsOf(answer) {
  const rounds = answer.rounds.filter((round) => round.kind === "repair" && !round.text && round.chosen);
  return new Map(rounds.map((round) => [round.n - 1, { words: (round.kept[0] || "").replace(/^[-*•]\s+/, ""), why: round.dropped[0]?.why || "" }]));
}

function Repairs({ answer, repairs, taken, take, text, use }) {
  const [notice, setNotice] = useState("");
  const list = useRef(null);
  const offered = [...repairs].filter(([n]) => answer.claims[n]);
  if (!offered.length) return html`<p role="status">No repair found; correct or remove the failing sentences yourself.</p>`;
  const settle = (n, is, event) => {
    take(n, is);
    const items = [...list.current.children];
    items[items.indexOf(event.target.closest("li")) + 1]?.querySelector("button")?.focus();
  };
  const spans = spansOf(text, answer.claims);
  const whole = () => {
    let made = text;
    [...offered].reverse().forEach(([n, { words }]) => {
      if (taken[n] && spans[n]) made = made.slice(0, spans[n].start) + words + made.slice(spans[n].end);
    });
    return made;
  };
  const count = offered.filter(([n]) => taken[n]).length;
  const copy = async () => (await navigator.clipboard.writeText(whole()), setNotice("Copied."));
  return html`<section class="repairs"><h2>Repairs</h2>
    <ul class="plain" ref=${list}>${offered.map(([n, { words, why }]) => html`<li key=${n}>
      <p dir="auto"><s>${answer.claims[n].text}</s></p>
      <p dir="auto">${words ? html`<ins>${words}</ins>` : html`<em>Left out: the documents contain no replacement.</em>`}</p>
      <p class="quiet">${why}</p>
      <div role="group" aria-label="This repair"><button class="small" aria-pressed=${taken[n] === true} onClick=${(event) => settle(n, true, event)}>Take it</button>
      <button class="small" aria-pressed=${taken[n] === false} onClick=${(event) => settle(n, false, event)}>Leave mine</button></div>
    </li>`)}</ul>
    <p class="tools"><button onClick=${copy}>Copy the text${count ? ` with ${count} taken` : ""}</button> <button onClick=${() => use(whole())}>Put it into the field to check again</button> <span class="quiet" role="status">${notice}</span></p>
  </section>`;
}

/** Paragraphs as passages; a first line that ends with a colon is a title. */
export function passagesOf(text) {
  return (text || "")
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter(Boolean)
    .map((paragraph) => {
      const [first, ...rest] = paragraph.split("\n");
      return rest.length && first.endsWith(":") ? { title: first.slice(0, -1), text: rest.join("\n") } : { text: paragraph };
    });
}
