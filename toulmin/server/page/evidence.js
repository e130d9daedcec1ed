// The evidence of a sentence: verdict, original with marked words, and readers' feedback.

import { html, later, useEffect, useRef, useState } from "./lib.js";
import { ask } from "./api.js";
import { SIGNS, WORDS, label } from "./verdicts.js";
import { About } from "./metadata.js";
import { find, parts, place } from "./text.js";

const Original = later(async () => (await import("./original.js")).Original);
const ELSEWHERE = "(?:; “.*)?$"; // a reason ends with the passages that support the claim
const QUOTED = new RegExp(`says “(.+?)”${ELSEWHERE}`, "s");
const CHANGED = new RegExp(`^the source says (.+), the claim says (.+?)${ELSEWHERE}`, "s");
const SAYINGS = { right: "Right", wrong: "Wrong", "wrong source": "Wrong source" };

/** The pane beside an answer; `place` is the claim's, `first` the passage that was asked for. */
export function Evidence({ answer, place: n, first, isHeld, close }) {
  const claim = answer.claims[n];
  const pane = useRef(null);
  useEffect(() => {
    if (isHeld && innerWidth < 992) pane.current.focus(); // a sheet over the text
  }, [n, first]);
  const citations = [...claim.citations, ...uncited(claim, answer.passages)];
  const [asked, setAsked] = useState(null);
  useEffect(() => setAsked(null), [n, first]);
  const shown = citations.find((one) => one.passage === (asked || first)) || citations[0];
  const passage = shown && answer.passages.find((one) => one.id === shown.passage);
  return html`<aside class="evidence" tabindex="-1" ref=${pane} aria-label="Evidence" onKeyDown=${(event) => event.key === "Escape" && close()}>
    <button class="close" aria-label="Close the evidence" onClick=${close}>×</button>
    <${Verdict} claim=${claim} />
    ${citations.length > 1 && html`<div class="tabs" role="group" aria-label="Sources of the sentence">${citations.map((one) => {
      const title = answer.passages.find((each) => each.id === one.passage)?.title || "";
      return html`<button key=${one.passage} class="small" aria-pressed=${one === shown} onClick=${() => setAsked(one.passage)}>${one.n ? `${one.n} ` : "not cited: "}<bdi>${title}</bdi></button>`;
    })}</div>`}
    ${passage && html`<${Source} key=${passage.id} citation=${shown} passage=${passage} />`}
    ${!passage && html`<p class="quiet">This sentence cites no source.</p>`}
    ${answer.id && html`<${Saying} key=${`${answer.id} ${n}`} answer=${answer} n=${n} />`}
  </aside>`;
}

/** Passages that the claim does not cite: those that support it, and those that contradict it or made it fail. */
function uncited(claim, passages) {
  const { citations, support } = claim;
  const cited = citations.map((one) => one.passage);
  const elsewhere = (support?.elsewhere || []).map((id) => [id, "Not cited, but supports it.", null]);
  const quote = (id) => passages.filter((one) => one.id === id).map(({ text }) => decisive(claim, text))[0];
  const failed = (support?.evidence || []).filter((id) => !cited.includes(id)).map((id) => [id, support.label === "disputed" ? "Says something else." : "Found instead.", quote(id)]);
  return [...elsewhere, ...failed].map(([passage, remark, quote]) => ({ passage, remark, n: null, quote }));
}

/** The span of the sentence in a text that the verdict's reason quotes, or that has another value than the claim; null if there is none. */
export function decisive({ text: claim, support }, text) {
  const reason = support.reason || "";
  const [, quoted] = QUOTED.exec(reason) || [];
  if (quoted) return find(text, quoted.replace(/ …$/, ""), quoted.endsWith(" …"));
  const [, theirs, ours] = CHANGED.exec(reason) || [];
  return ours ? find(text, claim.replace(ours, () => theirs).replace(/[.!?]$/, ""), true) : null;
}

function Verdict({ claim }) {
  const name = label(claim);
  const { support } = claim;
  return html`<div class=${`badge ${name}`}>
    <p><span aria-hidden="true">${SIGNS[name]}</span> <strong>${WORDS[name]}</strong>${support && html` <small class="quiet" title="How sure the judge is that the source supports it">${support.was ? "then " : ""}${support.score.toFixed(2)}, judge ${support.judge}</small>`}</p>
    ${support && support.reason && html`<p>${support.reason}</p>`}
    <blockquote dir="auto">${claim.text}</blockquote>
  </div>`;
}

function Source({ citation, passage }) {
  const [isText, setIsText] = useState(false);
  const { quote } = citation;
  const of = `/v1/passages/${encodeURIComponent(passage.id)}/original${quote ? `?start=${quote.start}&end=${quote.end}` : ""}`;
  const words = html`<p class="text" dir="auto"><${Marked} text=${passage.text} quote=${quote} /></p>`;
  const canShow = Boolean(passage.source.path);
  return html`<section class="source">
    <h2><bdi>${passage.title || place(passage.source)}</bdi></h2>
    <${About} metadata=${passage.source.metadata} />
    <p class="place quiet">${citation.remark && `${citation.remark} `}<bdi>${place(passage.source, citation)}</bdi>
      ${canShow && html` <button class="small" onClick=${() => setIsText(!isText)}>${isText ? "Show the original" : "Show as text"}</button>`}</p>
    ${canShow && !isText ? html`<${Original} of=${of} flow=${words} />` : html`<${Around} passage=${passage}>${words}<//>`}
  </section>`;
}

/** The passage as text, with its neighbours on request. */
function Around({ passage, children }) {
  const [around, setAround] = useState(null);
  const show = async () => {
    try {
      setAround(await ask("GET", `/v1/passages/${encodeURIComponent(passage.id)}`));
    } catch (error) {
      setAround({ problem: error.message });
    }
  };
  return html`
    ${around?.before && html`<p class="beside" dir="auto"><${Flow} text=${around.before.text} /></p>`}
    ${children}
    ${around?.after && html`<p class="beside" dir="auto"><${Flow} text=${around.after.text} /></p>`}
    ${around?.problem && html`<p class="quiet">${around.problem}</p>`}
    ${!around && html`<button class="small" onClick=${show}>Show the text around it</button>`}`;
}

export function Marked({ text, quote }) {
  if (!quote) return html`<${Flow} text=${text} />`;
  const [before, within, behind] = parts(text, quote);
  return html`<${Flow} text=${before} /><mark><${Flow} text=${within} /></mark><${Flow} text=${behind} />`;
}

/** A text whose paragraphs stand apart; its characters stay what they are, line ends included. */
function Flow({ text }) {
  return text.split(/(\n\s*\n)/).map((part, n) => (n % 2 ? html`<span class="gap">${part}</span>` : part));
}

/** A reader's feedback on the sentence, kept by the server; the same button withdraws it. */
function Saying({ answer, n }) {
  const [said, setSaid] = useState(null);
  const [problem, setProblem] = useState("");
  const hasSpoken = useRef(false);
  const address = `/v1/answers/${encodeURIComponent(answer.id)}/feedback`;
  useEffect(() => {
    hasSpoken.current = false;
    // Nothing is kept for a draft; what is said while this is on its way counts more.
    ask("GET", address).then((kept) => hasSpoken.current || setSaid(kept.claims[n] || null)).catch(() => {});
  }, [address, n]);
  const say = async (name) => {
    hasSpoken.current = true;
    const says = said === name ? null : name;
    try {
      await ask("POST", address, { claim: n, says });
      setSaid(says);
      setProblem("");
    } catch (error) {
      setProblem(error.message);
    }
  };
  return html`<div class="saying" role="group" aria-label="Your opinion of this sentence">
    <span class="quiet">This sentence is</span>
    ${Object.entries(SAYINGS).map(([name, words]) => html`<button key=${name} class="small" aria-pressed=${said === name} onClick=${() => say(name)}>${words}</button>`)}
    <span class="quiet" role="status">${problem || (said ? "Saved, thank you." : "")}</span>
  </div>`;
}
