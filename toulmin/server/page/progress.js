// The progress of an answer, in plain steps.

import { html, useEffect, useState } from "./lib.js";
import { counted } from "./text.js";

const DOING = {
  search: "Reading", plan: "Planning", draft: "Writing", claim: "Writing", refine: "Writing again",
  repair: "Correcting", verify: "Checking against the sources", contrast: "Comparing", assess: "Measuring",
};

/** `answer` is the newest draft, or null before there is one. */
export function Progress({ answer }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const kinds = answer ? [...new Set(answer.rounds.map((round) => DOING[round.kind]))] : [];
  const last = answer?.rounds.length ? DOING[answer.rounds[answer.rounds.length - 1].kind] : answer ? "Reading" : null;
  const steps = ["Searching", ...kinds.filter((words) => words !== last), last].filter(Boolean);
  const read = answer?.passages.length ? counted(answer.passages.length, "passage") : "";
  return html`<div role="status"><ol class="steps">${steps.map((words, n) => html`<li key=${words} class=${n === steps.length - 1 ? "now" : "done"}>${words}${words === "Reading" && read ? ` ${read}` : ""}${n === steps.length - 1 ? " …" : ""}</li>`)}
    ${seconds > 2 && html`<li class="quiet" aria-hidden="true">${seconds} s</li>`}</ol></div>`;
}
