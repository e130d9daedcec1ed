// One question, two methods, side by side.

import { html, useState } from "./lib.js";
import { Answer } from "./answer.js";
import { Problem } from "./asking.js";
import { useRunning } from "./running.js";

export function Comparing({ methods }) {
  const [names, setNames] = useState(null);
  const [left, beginLeft, stopLeft] = useRunning();
  const [right, beginRight, stopRight] = useRunning();
  const isRunning = !left.isDone || !right.isDone;
  const send = (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    if (!given.question.trim()) return;
    setNames([given.first, given.second]);
    beginLeft("/v1/answers", { question: given.question, method: given.first });
    beginRight("/v1/answers", { question: given.question, method: given.second });
  };
  const choice = (name, usual) => html`<select name=${name} aria-label=${name === "first" ? "First method" : "Second method"}>
    ${methods.map((one) => html`<option value=${one.name} selected=${one.name === usual}>${one.name}</option>`)}
  </select>`;
  return html`<div>
    <h1 class="unseen">Compare two methods</h1>
    <form class="ask" onSubmit=${send}>
      <label for="compared">A question for two methods</label>
      <textarea id="compared" name="question" rows="2" maxlength="100000"></textarea>
      <div class="row">${choice("first", "best")} <span class="quiet">and</span> ${choice("second", "vanilla")}
        ${isRunning ? html`<button key="stop" type="button" class="main" onClick=${() => (stopLeft(), stopRight())}>Stop</button>` : html`<button key="go" class="main">Compare</button>`}
      </div>
    </form>
    ${names && html`<div class="beside">${[[names[0], left], [names[1], right]].map(
      ([name, state]) => html`<section><h2>${name}</h2>
        ${state.problem && html`<${Problem} text=${state.problem} />`}
        ${!state.isDone && !state.answer && html`<p class="summary quiet" role="status">Searching …</p>`}
        ${state.answer && html`<${Answer} answer=${state.answer} isDone=${state.isDone} beside=${false} />`}
      </section>`,
    )}</div>`}
  </div>`;
}
