// The rounds of an answer: searches, drafts, rejections with reasons, repairs.

import { html } from "./lib.js";
import { counted } from "./text.js";

const WORDS = {
  search: "Searched", draft: "Drafted", claim: "Wrote a claim", verify: "Verified", contrast: "Contrasted",
  plan: "Planned", assess: "Measured", refine: "Refined", repair: "Repaired",
};

/** The rounds, folded. */
export function Rounds({ rounds, passages }) {
  if (!rounds.length) return null;
  const titles = new Map(passages.map((passage) => [passage.id, passage.title || passage.id]));
  return html`<details class="rounds">
    <summary>Rounds <span class="quiet">${counted(rounds.length, "step")}</span></summary>
    <ol>${rounds.map((round, place) => html`<${Round} key=${place} round=${round} titles=${titles} />`)}</ol>
  </details>`;
}

/** What a repair removed, with reasons. */
export function removals({ rounds }) {
  return rounds.filter((round) => round.kind === "repair" && round.chosen && !round.text && !round.kept.length).map((round) => round.dropped[0]);
}

/** The same, struck through. */
export function Removed({ answer }) {
  const gone = removals(answer);
  if (answer.method !== "repair" || !gone.length) return null;
  return html`<section class="removed">
    <h2>Removed</h2>
    <ul>${gone.map((one) => html`<li><s dir="auto">${one.text}</s> <span class="quiet">${one.why}</span></li>`)}</ul>
  </section>`;
}

function Round({ round, titles }) {
  const read = [...new Set(round.read.map((id) => titles.get(id)).filter(Boolean))];
  const trial = round.trial === null ? "" : `, trial ${round.trial}`;
  return html`<li class=${round.kind}>
    <p><strong>${WORDS[round.kind]}</strong> <span class="quiet">${[round.role, trial.slice(2)].filter(Boolean).join(" · ")}${round.chosen ? " · chosen" : ""}</span></p>
    ${round.queries.map((query) => html`<p class="query" dir="auto">“${query}”</p>`)}
    ${read.length > 0 && html`<p class="quiet">Read ${counted(round.read.length, "passage")}: <bdi>${read.slice(0, 6).join(" · ")}</bdi>${read.length > 6 ? " …" : ""}</p>`}
    ${round.scores && html`<p class="quiet">${Object.entries(round.scores).map(([name, value]) => `${name} ${value.toFixed(2)}`).join(" · ")}</p>`}
    ${round.kept.length > 0 && html`<ul class="kept">${round.kept.map((text) => html`<li dir="auto">${text}</li>`)}</ul>`}
    ${round.dropped.length > 0 && html`<ul class="dropped">${round.dropped.map((one) => html`<li><s dir="auto">${one.text}</s> <span class="quiet">${one.why}</span></li>`)}</ul>`}
  </li>`;
}
