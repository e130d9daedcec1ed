// What proves a claim: its verdict, and each cited passage with the decisive words marked where they stand.

import { html, useEffect, useRef, useState } from "./lib.js";
import { ask } from "./api.js";
import { SIGNS, label } from "./verdicts.js";
import { parts, place } from "./text.js";

/** The pane beside an answer; `first` is the passage that was asked for. */
export function Evidence({ answer, claim, first, close }) {
  const pane = useRef(null);
  useEffect(() => {
    pane.current.focus({ preventScroll: innerWidth > 900 });
  }, [claim, first]);
  const ordered = [...claim.citations].sort((a, b) => Number(b.passage === first) - Number(a.passage === first));
  const elsewhere = (claim.support?.elsewhere || []).map((id) => answer.passages.find((one) => one.id === id));
  return html`<aside class="evidence" tabindex="-1" ref=${pane} aria-label="Evidence" onKeyDown=${(event) => event.key === "Escape" && close()}>
    <button class="close" aria-label="Close the evidence" onClick=${close}>×</button>
    <${Verdict} claim=${claim} />
    ${ordered.map((citation) => html`<${Passage} key=${citation.passage} citation=${citation} passage=${answer.passages.find((one) => one.id === citation.passage)} />`)}
    ${elsewhere.length > 0 && html`<p>Said elsewhere:</p>`}
    ${elsewhere.map((passage) => html`<${Passage} key=${passage.id} citation=${{ n: passage.n, quote: null }} passage=${passage} />`)}
    ${claim.citations.length === 0 && html`<p class="quiet">This claim cites no source.</p>`}
  </aside>`;
}

function Verdict({ claim }) {
  const name = label(claim);
  const { support } = claim;
  return html`<div class=${`badge ${name}`}>
    <p><span aria-hidden="true">${SIGNS[name] || "·"}</span> <strong>${name}</strong>${support && html` <span class="quiet">${support.score.toFixed(2)} by ${support.judge}</span>`}</p>
    ${support && support.reason && html`<p>${support.reason}</p>`}
    <blockquote dir="auto">${claim.text}</blockquote>
  </div>`;
}

function Passage({ citation, passage }) {
  const [around, setAround] = useState(null);
  const show = async () => {
    try {
      setAround(await ask("GET", `/v1/passages/${encodeURIComponent(passage.id)}`));
    } catch (error) {
      setAround({ problem: error.message });
    }
  };
  return html`<section class="passage">
    <h4>${citation.n && html`<span class="chip still">${citation.n}</span> `}<bdi>${passage.title || place(passage.source)}</bdi></h4>
    <p class="place quiet"><bdi>${place(passage.source)}</bdi></p>
    ${around && around.before && html`<p class="beside" dir="auto"><${Flow} text=${around.before.text} /></p>`}
    <p class="text" dir="auto"><${Marked} text=${passage.text} quote=${citation.quote} /></p>
    ${around && around.after && html`<p class="beside" dir="auto"><${Flow} text=${around.after.text} /></p>`}
    ${around && around.problem && html`<p class="quiet">${around.problem}</p>`}
    ${!around && html`<button class="small" onClick=${show}>Show what stands before and after</button>`}
  </section>`;
}

function Marked({ text, quote }) {
  if (!quote) return html`<${Flow} text=${text} />`;
  const [before, within, behind] = parts(text, quote);
  return html`<${Flow} text=${before} /><mark><${Flow} text=${within} /></mark><${Flow} text=${behind} />`;
}

/** A text whose paragraphs stand apart; its characters stay what they are, line ends included. */
function Flow({ text }) {
  return text.split(/(\n\s*\n)/).map((part, n) => (n % 2 ? html`<span class="gap">${part}</span>` : part));
}
