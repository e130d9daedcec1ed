// An answer, drawn from its document: prose whose claims show their verdicts, and the evidence of a chosen one.

import { html, later, useCallback, useEffect, useRef, useState } from "./lib.js";
import { ask } from "./api.js";
import { SIGNS, answering, fails, label, sourced, spoken } from "./verdicts.js";
import { About, byline } from "./metadata.js";
import { counted, place, seconds, short } from "./text.js";
import { Removed, Rounds } from "./rounds.js";
import { Taking } from "./taking.js";

const Evidence = later(async () => (await import("./evidence.js")).Evidence); // the first paint needs none
const PAUSE = 250; // milliseconds that a pointer rests on a sentence before its evidence is shown
const IS_WIDE = matchMedia("(min-width: 62rem)");
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** The whole answer, finished or not; `beside`: there is room for evidence; `isKept`: it was written earlier. */
export function Answer({ answer: written, isDone = true, beside = true, isKept = false, draw = drawProse }) {
  const [found, setFound] = useState({}); // by answer: the states of its claims now
  const answer = asOfNow(written, found[written.id]);
  const [chosen, setChosen] = useState(null); // {claim, passage, isHeld}
  const prose = useRef(null);
  useEffect(() => setChosen(null), [answer.id]);
  useEffect(() => {
    if (isDone && beside && IS_WIDE.matches && answer.claims.length) setChosen((now) => now || { claim: firstToRead(answer), isHeld: false });
  }, [answer.id, isDone]);
  const choose = useCallback((claim, passage = null, isHeld = true) => setChosen({ claim, passage, isHeld }), []);
  const close = () => {
    prose.current?.querySelector(`[data-claim="${chosen.claim}"]`)?.focus();
    setChosen(null);
  };
  const claim = chosen && answer.claims[chosen.claim];
  return html`
    <article class=${`answer ${claim ? "open" : ""}`} aria-busy=${!isDone}>
      <div class="reading" ref=${prose}>
        <${Signs} answer=${answer} isDone=${isDone} />
        ${answer.settings.only?.length > 0 && html`<p class="quiet limited"><bdi>${limitOf(answer)}</bdi></p>`}
        ${isKept && answer.question && answer.claims.length > 0 && html`<${Standing} key=${`kept ${answer.id}`} answer=${written} isKept=${true} tell=${(claims) => setFound({ [written.id]: claims })} />`}
        ${answer.status === "abstained" && isDone && html`<${Silence} answer=${answer} />`}
        ${draw({ answer, chosen, choose, isDone })}
        <${Listed} answer=${answer} chosen=${claim} choose=${choose} />
        <${Removed} answer=${answer} />
        <${Questions} questions=${answer.questions} />
        ${isDone && answer.claims.length > 0 && html`<${Taking} key=${answer.id} answer=${answer} />`}
        ${isDone && html`<${Details} answer=${answer} />`}
      </div>
      ${claim && html`<${Evidence} answer=${answer} place=${chosen.claim} first=${chosen.passage} isHeld=${chosen.isHeld} close=${close} />`}
    </article>
  `;
}

/** The answer with the labels that its claims have since their sources changed; `states` are those of a recheck. */
function asOfNow(answer, states) {
  if (!states) return answer;
  const claims = answer.claims.map((claim, n) => {
    if (!isFallen(states[n])) return claim;
    const name = states[n].state === "contradicted" ? "contradicted" : "unsupported";
    const reason = states[n].says ? `The source now says: “${states[n].says}”` : `Since the answer was written: ${STATES[states[n].state]}.`;
    return { ...claim, support: { ...claim.support, label: name, reason, was: true } };
  });
  return { ...answer, claims };
}

/** A sentence that fails is read before one that holds. */
function firstToRead({ claims, method }) {
  const failing = method === "check" ? claims.findIndex(fails) : -1;
  return Math.max(failing, 0);
}

/** What the question was asked of, where that was limited. */
function limitOf({ settings, notes }) {
  const only = settings.only.join(", ");
  return notes.find((note) => note.startsWith("Asked of ") && note.endsWith(`: ${only}.`)) || `Asked of documents that pass ${only}.`;
}

function Signs({ answer, isDone }) {
  if (answer.status === "failed") {
    return html`<div class="verdict failed" role="status"><strong>No answer</strong><p>${answer.notes.join(" ")}</p></div>`;
  }
  const isJudged = isDone || answer.claims.some((claim) => claim.support);
  const signs = [isDone && answering(answer), isJudged && sourced(answer.claims)].filter(Boolean);
  if (!signs.length) return null;
  return html`<div role="status"><ul class="signs">${signs.map(({ tone, sign, words }) => html`<li class=${tone}><span aria-hidden="true">${sign}</span> ${words}</li>`)}</ul></div>`;
}

/** What to do without an answer, and the nearest passages. */
function Silence({ answer }) {
  const near = answer.passages.slice(0, 3);
  const notes = answer.notes.filter((note) => !/^(the (sources|documents) do not say|nearest:|asked of )/i.test(note)); // shown elsewhere
  const [open, setOpen] = useState(null);
  return html`<div class="verdict abstained" role="status">
      <strong>${notes.some((note) => note.includes("is not known")) ? "No answer that your documents support" : "No answer in your documents"}</strong>
      ${notes.map((note) => html`<p>${note}</p>`)}
      <p class="quiet">Try words that the documents use, one question at a time, or “thorough”. “Sources” lists the documents and the unreadable files.</p>
    </div>
    ${near.length > 0 && html`<div class="near"><h2>Nearest passages</h2>
      <ul class="plain">${near.map((passage) => html`<li key=${passage.id}><button class="plainly" aria-expanded=${open === passage.id} onClick=${() => setOpen(open === passage.id ? null : passage.id)}><bdi>${passage.title || place(passage.source)}</bdi></button>${" "}
        <span class="quiet"><bdi>${place(passage.source)}</bdi></span><${About} metadata=${passage.source.metadata} />
        <p class="text" dir="auto">${open === passage.id ? passage.text : short(passage.text, 220)}</p></li>`)}</ul></div>`}`;
}

/** The sentences as paragraphs under their sections, or as a list; a model's apart from the quotes after them. */
function drawProse({ answer, chosen, choose, isDone }) {
  const sections = [];
  const first = quotedFrom(answer, isDone);
  answer.claims.forEach((claim, n) => {
    const last = sections[sections.length - 1];
    if (last && last.title === claim.section && n !== first) last.claims.push({ claim, n });
    else sections.push({ title: claim.section, claims: [{ claim, n }], isQuoted: n === first });
  });
  const Item = answer.style === "list" ? "li" : "span";
  const drawn = ({ claim, n }) => html`<${Item} key=${n}><${Claim} answer=${answer} n=${n} chosen=${chosen} choose=${choose} /> <//>`;
  return html`<div onKeyDown=${walk}>${sections.map(
    (section) => html`
      ${section.title && html`<h2 dir="auto">${section.title}</h2>`}
      ${section.isQuoted && html`<p class="quiet word-for-word">Quoted from the sources${isDone ? "" : ", while the model writes"}:</p>`}
      ${answer.style === "list" ? html`<ul class="prose">${section.claims.map(drawn)}</ul>` : html`<p class="prose" dir="auto">${section.claims.map(drawn)}</p>`}
    `,
  )}</div>`;
}

/** The place of the first of the quotes at the end, if a model writes the answer too; else -1. */
function quotedFrom({ claims, settings, style, method }, isDone) {
  if (method !== "best" || style !== "long" || !settings.model || settings.model.startsWith("extractive")) return -1;
  const first = claims.findLastIndex((claim) => !isQuote(claim)) + 1;
  return first < claims.length && (first > 0 || !isDone) ? first : -1;
}

const plain = (text) => text.replace(/\s+/g, " ").trim();
const isQuote = ({ text, citations }) => citations.some(({ quote }) => quote && plain(quote.text) === plain(text));

/** Arrow keys go from sentence to sentence. */
export function walk(event) {
  const step = STEPS[event.key];
  const at = event.target.closest("[data-claim]");
  if (!step || !at) return;
  const all = [...event.currentTarget.querySelectorAll("[data-claim]")];
  const next = all[all.indexOf(at) + step];
  event.preventDefault();
  if (!next) return;
  next.focus();
  next.click();
}

/** A sentence with its verdict and the numbers of its sources; `words` are drawn in place of the claim's own. */
export function Claim({ answer, n, chosen, choose, words }) {
  const claim = answer.claims[n];
  const name = label(claim);
  const isChosen = chosen !== null && chosen.claim === n;
  const resting = useRef(0);
  const rest = (event) => {
    if (event.pointerType !== "mouse" || (chosen && chosen.isHeld) || !IS_WIDE.matches) return;
    resting.current = setTimeout(() => choose(n, null, false), PAUSE);
  };
  const press = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(n);
  };
  // Tab stops at the chosen sentence, or at the first; arrow keys reach the others.
  const stop = chosen ? isChosen : n === 0;
  // No <button>: browsers lay one out as a block, and sentences must flow.
  return html`<span class=${`claim ${name} ${isChosen ? "chosen" : ""}`}>
    <span class="words" role="button" tabindex=${stop ? 0 : -1} data-claim=${n} aria-pressed=${isChosen} onClick=${() => choose(n)} onKeyDown=${press} onPointerEnter=${rest} onPointerLeave=${() => clearTimeout(resting.current)}
      ><bdi>${words ?? claim.text}</bdi><span class="unseen"> (${spoken(claim)})</span></span
    >${name !== "supported" && name !== "unchecked" && html`<span class="sign" title=${spoken(claim)} aria-hidden="true">${SIGNS[name]}</span>`}${claim.citations.map((citation) => {
      const name = nameOf(answer, citation.passage);
      return html`<button key=${citation.passage} class="chip" title=${name} aria-label=${`Source ${citation.n}: ${name}`} onClick=${() => choose(n, citation.passage)}>${citation.n}</button>`;
    })}</span>`;
}

/** The title of a passage, its authors and its date. */
function nameOf(answer, id) {
  const { title, source } = answer.passages.find((one) => one.id === id);
  return [title || place(source), byline(source.metadata)].filter(Boolean).join(" · ");
}

/** The names of the sources under the prose, each once, with the numbers that stand in it. */
function Listed({ answer, chosen, choose }) {
  const byTitle = new Map();
  answer.passages.filter((passage) => passage.n !== null).sort((a, b) => a.n - b.n).forEach((passage) => {
    const { path, url, record } = passage.source;
    const key = JSON.stringify([path || url, record, passage.title]);
    byTitle.set(key, [...(byTitle.get(key) || []), passage]);
  });
  if (!byTitle.size) return null;
  const open = (id) => choose(answer.claims.findIndex((claim) => claim.citations.some((one) => one.passage === id)), id);
  const isOpen = (id) => chosen?.citations.some((one) => one.passage === id);
  return html`<div class="listed"><h2 class="quiet">Sources</h2><ul class="plain">${[...byTitle.values()].map(
    (passages) => html`<li key=${passages[0].id}>${passages.map((one) => html`<button class=${`chip still ${isOpen(one.id) ? "now" : ""}`} aria-label=${`Open source ${one.n}`} onClick=${() => open(one.id)}>${one.n}</button>`)}${" "}
      <bdi>${passages[0].title || place(passages[0].source)}</bdi> <span class="quiet"><bdi>${fileOf(passages[0])}</bdi></span><${About} metadata=${passages[0].source.metadata} /></li>`,
  )}</ul></div>`;
}

function fileOf({ title, source }) {
  const name = source.url || (source.path || "").split(/[\\/]/).pop();
  return name === title ? "" : name;
}

function Questions({ questions }) {
  if (!questions.length) return null;
  const signs = { answered: "✓", partly: "◐", unanswerable: "–" };
  return html`<section class="questions">
    <h2>Questions of the plan</h2>
    <ul class="plain">
      ${questions.map((one) => html`<li><span class=${`outcome ${one.outcome}`} aria-hidden="true">${signs[one.outcome]}</span> <bdi>${one.text}</bdi> <span class="quiet">${one.outcome}</span></li>`)}
    </ul>
  </section>`;
}

/** The judge, the cost, the rounds, and whether the claims are still supported. */
function Details({ answer }) {
  const judges = [...new Set(answer.claims.filter((claim) => claim.support).map((claim) => claim.support.judge))];
  const notes = answer.status === "answered" ? answer.notes : [];
  return html`<details class="behind"><summary>How this answer was made, and whether it is still supported</summary>
    ${notes.map((note) => html`<p class="quiet">${note}</p>`)}
    <dl>
      <dt>Method</dt><dd>${answer.method}</dd>
      ${answer.relevance && html`<dt>Answers the question</dt><dd>${answer.relevance.score.toFixed(2)} by ${answer.relevance.reader}</dd>`}
      ${judges.length > 0 && html`<dt>Supported by the sources</dt><dd>by ${judges.join(", ")}</dd>`}
      <dt>Work</dt><dd>${cost(answer)}</dd>
      ${answer.sources_at && html`<dt>Sources as of</dt><dd>${day(answer.sources_at)}</dd>`}
    </dl>
    ${answer.question && answer.claims.length > 0 && html`<${Standing} key=${answer.id} answer=${answer} />`}
    <${Rounds} rounds=${answer.rounds} passages=${answer.passages} />
  </details>`;
}

function cost(answer) {
  const { usage } = answer;
  const calls = Object.values(usage.calls).reduce((sum, count) => sum + count, 0);
  const usd = usage.cost ? `, $${usage.cost.usd.toFixed(4)}` : "";
  const parts = [counted(usage.searches, "search").replace(/searchs$/, "searches"), counted(calls, "model call")];
  return `${parts.join(", ")}, ${counted(usage.judge_pairs, "judgement")}${usd}, ${seconds(usage.seconds)}`;
}

const STATES = { current: "unchanged", moved: "moved", holds: "changed, still supported", stale: "no longer supported", contradicted: "contradicted", gone: "source gone" };
const FALLEN = ["stale", "contradicted", "gone"];

function day(time) {
  return new Date(time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

/** Whether the claims are still supported: checked at once for a kept answer, else on request. */
function Standing({ answer, isKept = false, tell = () => {} }) {
  const [found, setFound] = useState(null);
  const [isOpen, setIsOpen] = useState(!isKept);
  const look = async () => {
    setFound({ isLooking: true });
    try {
      const recheck = await ask("GET", `/v1/answers/${encodeURIComponent(answer.id)}/recheck`);
      setFound(recheck);
      tell(recheck.claims);
    } catch (error) {
      setFound({ problem: error.message });
    }
  };
  useEffect(() => void (isKept && look()), []);
  const judged = (found?.claims || []).filter((claim) => claim.state);
  if (isKept && !judged.length) return null; // the sources may be no index
  const fallen = judged.filter(isFallen).length;
  const changed = judged.filter((claim) => claim.state !== "current");
  const counts = Object.entries(found?.counts || {}).map(([state, count]) => `${count} ${STATES[state]}`).join(", ");
  return html`<div class="standing">
    ${isKept
      ? html`<span role="status"><${Sign} isBad=${fallen > 0} /> ${standing(judged.length, fallen)}</span>${answer.sources_at && html`<span class="quiet"> · written from the sources of ${day(answer.sources_at)}</span>`} ${changed.length > 0 && html`<button class="small" aria-expanded=${isOpen} onClick=${() => setIsOpen(!isOpen)}>What changed</button>`}`
      : html`<button class="small" disabled=${found?.isLooking} onClick=${look}>Recheck against the sources</button>
        <span class="quiet" role="status"> ${found?.isLooking ? "Checking the sources …" : found?.problem || counts}</span>`}
    ${isOpen && changed.length > 0 && html`<ul>
      ${changed.map((claim) => html`<li><${Sign} isBad=${isFallen(claim)} /> <strong>${STATES[claim.state]}</strong>: <bdi>${claim.text}</bdi>${claim.says && html`<br /><span class="quiet">The source now: </span><bdi>${claim.says}</bdi>`}</li>`)}
    </ul>`}
  </div>`;
}

const isFallen = (claim) => FALLEN.includes(claim.state);

function standing(count, fallen) {
  if (fallen) return `${fallen} of ${counted(count, "claim")} no longer supported`;
  return count === 1 ? "Its claim is still supported" : `All ${count} claims are still supported`;
}

function Sign({ isBad }) {
  const name = isBad ? "contradicted" : "supported";
  return html`<span class=${`sign ${name}`} aria-hidden="true">${SIGNS[name]}</span>`;
}
