// An answer, drawn from its document: prose whose claims show their verdicts, and what lies behind a chosen one.

import { html, useEffect, useState } from "./lib.js";
import { ask } from "./api.js";
import { SIGNS, label, spoken, tally } from "./verdicts.js";
import { counted, seconds } from "./text.js";
import { markdown, references } from "./copying.js";
import { Evidence } from "./evidence.js";
import { Removed, Rounds } from "./rounds.js";

/** The whole answer. `answer` is a document, finished or not. */
export function Answer({ answer, isDone = true }) {
  const [chosen, choose] = useState(null);
  useEffect(() => choose(null), [answer.id]);
  const claim = chosen === null ? null : answer.claims[chosen.claim];
  return html`
    <article class="answer" aria-busy=${!isDone}>
      <div class="reading">
        <${Summary} answer=${answer} isDone=${isDone} />
        <${Prose} answer=${answer} chosen=${chosen} choose=${choose} />
        <${Removed} answer=${answer} />
        <${Questions} questions=${answer.questions} />
        ${isDone && html`<${Tools} answer=${answer} />`}
        ${isDone && answer.question && answer.claims.length > 0 && html`<${Standing} key=${answer.id} answer=${answer} />`}
        <${Rounds} rounds=${answer.rounds} passages=${answer.passages} />
      </div>
      ${claim && html`<${Evidence} answer=${answer} claim=${claim} first=${chosen.passage} close=${() => choose(null)} />`}
    </article>
  `;
}

function Summary({ answer, isDone }) {
  const judges = [...new Set(answer.claims.filter((claim) => claim.support).map((claim) => claim.support.judge))];
  const told = answer.claims.length ? tally(answer.claims) : "";
  if (answer.status === "answered") {
    return html`<p class="summary" role="status">
      ${answer.relevance && html`<span class=${`relevance ${answer.relevance.answers}`}>${relevance(answer.relevance)}</span> · `}
      ${isDone ? "" : "So far: "}${told}${judges.length > 0 && html` <span class="quiet">· judged by ${judges.join(", ")}</span>`}
      ${isDone && html` <span class="quiet">· ${cost(answer)}</span>`}
    </p>`;
  }
  if (!isDone) return html`<p class="summary quiet" role="status">Reading ${counted(answer.passages.length, "passage")} …</p>`;
  const words = answer.notes.join(" ") || "The sources do not say.";
  return html`<div class=${`verdict ${answer.status}`} role="status">
    <strong>${answer.status === "failed" ? "No answer" : "The sources do not say"}</strong>
    <p>${words}</p>
  </div>`;
}

function relevance({ answers, score, unmentioned }) {
  const absent = unmentioned.length ? `; cites nothing that speaks of ${unmentioned.join(", ")}` : "";
  const words = { yes: "Answers the question", partly: "Answers in part", no: "May not answer the question" };
  return `${words[answers]} (${score.toFixed(2)})${absent}`;
}

function cost(answer) {
  const { usage } = answer;
  const calls = Object.values(usage.calls).reduce((sum, count) => sum + count, 0);
  const usd = usage.cost ? `, $${usage.cost.usd.toFixed(4)}` : "";
  const told = [counted(usage.searches, "search").replace(/searchs$/, "searches"), counted(calls, "model call")];
  return `${told.join(", ")}, ${counted(usage.judge_pairs, "judgement")}${usd} · ${seconds(usage.seconds)}`;
}

function Prose({ answer, chosen, choose }) {
  const sections = [];
  answer.claims.forEach((claim, place) => {
    const last = sections[sections.length - 1];
    if (last && last.title === claim.section) last.claims.push({ claim, place });
    else sections.push({ title: claim.section, claims: [{ claim, place }] });
  });
  const Item = answer.style === "list" ? "li" : "span";
  const drawn = ({ claim, place }) =>
    html`<${Item} key=${place}><${Claim} claim=${claim} place=${place} chosen=${chosen} choose=${choose} /> <//>`;
  return sections.map(
    (section) => html`
      ${section.title && html`<h3 dir="auto">${section.title}</h3>`}
      ${answer.style === "list" ? html`<ul class="prose">${section.claims.map(drawn)}</ul>` : html`<p class="prose" dir="auto">${section.claims.map(drawn)}</p>`}
    `,
  );
}

function Claim({ claim, place, chosen, choose }) {
  const name = label(claim);
  const isChosen = chosen !== null && chosen.claim === place;
  const open = (passage) => choose(isChosen && chosen.passage === passage ? null : { claim: place, passage });
  const first = claim.citations.length ? claim.citations[0].passage : null;
  const press = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open(first);
  };
  // No <button>: browsers lay one out as a block, and sentences must flow.
  return html`<span class=${`claim ${name} ${isChosen ? "chosen" : ""}`}>
    <span class="words" role="button" tabindex="0" aria-pressed=${isChosen} onClick=${() => open(first)} onKeyDown=${press}
      ><bdi>${claim.text}</bdi><span class="unseen"> (${spoken(claim)})</span></span
    >${name !== "supported" && name !== "unchecked" && html`<span class="sign" title=${spoken(claim)} aria-hidden="true">${SIGNS[name]}</span>`}${claim.citations.map(
      (one) => html`<button key=${one.passage} class="chip" aria-label=${`Source ${one.n}`} onClick=${() => open(one.passage)}>${one.n}</button>`,
    )}</span>`;
}

function Questions({ questions }) {
  if (!questions.length) return null;
  const signs = { answered: "✓", partly: "◐", unanswerable: "–" };
  return html`<section class="questions">
    <h3>Questions of the plan</h3>
    <ul>
      ${questions.map((one) => html`<li><span class=${`outcome ${one.outcome}`} aria-hidden="true">${signs[one.outcome]}</span> <bdi>${one.text}</bdi> <span class="quiet">${one.outcome}</span></li>`)}
    </ul>
  </section>`;
}

function Tools({ answer }) {
  const [copied, setCopied] = useState("");
  const copy = async (name, text) => {
    await navigator.clipboard.writeText(text);
    setCopied(name);
  };
  const permalink = `${location.origin}/#/answer/${encodeURIComponent(answer.id)}`;
  const kinds = [
    ["Markdown", () => markdown(answer)],
    ["References", () => references(answer)],
    ["JSON", () => JSON.stringify(answer, null, 2)],
    ["Link", () => permalink],
  ];
  return html`<p class="tools">
    <span class="quiet">Copy as</span>
    ${kinds.map(([name, make]) => html`<button key=${name} class="small" onClick=${() => copy(name, make())}>${name}</button>`)}
    <span class="quiet" role="status">${copied && `${copied} copied.`}</span>
  </p>`;
}

const STATES = { current: "unchanged", moved: "moved", holds: "changed, but holds", stale: "no longer borne out", contradicted: "contradicted", gone: "source gone" };
const FALLEN = ["stale", "contradicted", "gone"];

/** Whether the claims still stand in the sources as they are now, once somebody asks. */
function Standing({ answer }) {
  const [found, setFound] = useState(null);
  const look = async () => {
    setFound({ isLooking: true });
    try {
      setFound(await ask("GET", `/v1/answers/${encodeURIComponent(answer.id)}/recheck`));
    } catch (error) {
      setFound({ problem: error.message });
    }
  };
  const counts = Object.entries(found?.counts || {}).map(([state, count]) => `${count} ${STATES[state]}`);
  const changed = (found?.claims || []).filter((claim) => claim.state && claim.state !== "current");
  return html`<div class="standing">
    <button class="small" disabled=${found?.isLooking} onClick=${look}>Does it still stand?</button>
    <span class="quiet" role="status"> ${found?.isLooking ? "Looking at the sources …" : found?.problem || counts.join(", ")}</span>
    ${changed.length > 0 && html`<ul>
      ${changed.map((claim) => html`<li><span class=${`sign ${FALLEN.includes(claim.state) ? "contradicted" : "supported"}`} aria-hidden="true">${SIGNS[FALLEN.includes(claim.state) ? "contradicted" : "supported"]}</span> <strong>${STATES[claim.state]}</strong>: <bdi>${claim.text}</bdi>${claim.says && html`<br /><span class="quiet">The source now says: </span><bdi>${claim.says}</bdi>`}</li>`)}
    </ul>`}
  </div>`;
}
