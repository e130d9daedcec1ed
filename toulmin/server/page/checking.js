// A text from elsewhere: which of its claims hold, and what it becomes when the others are put right.

import { html, useState } from "./lib.js";
import { Answer } from "./answer.js";
import { Problem } from "./asking.js";
import { useRunning } from "./running.js";

export function Checking() {
  const [checked, check, stopCheck] = useRunning();
  const [repaired, repair, stopRepair] = useRunning();
  const [both, setBoth] = useState(false);
  const isRunning = !checked.isDone || !repaired.isDone;
  const send = (event) => {
    event.preventDefault();
    const given = new FormData(event.target);
    const asked = { text: given.get("text") };
    const passages = passagesOf(given.get("passages"));
    if (!asked.text.trim()) return;
    if (passages.length) asked.passages = passages;
    setBoth(given.has("repair"));
    check("/v1/check", asked);
    if (given.has("repair")) repair("/v1/check", { ...asked, repair: true });
  };
  const stop = () => (stopCheck(), stopRepair());
  return html`
    <form class="ask check" onSubmit=${send}>
      <label for="text">A text to check</label>
      <textarea id="text" name="text" rows="6" maxlength="400000" placeholder="Paste a text. [1] in it means the first passage below; without passages your documents are searched."></textarea>
      <details><summary>Passages that it cites</summary>
        <label class="unseen" for="passages">Passages, one a paragraph</label>
        <textarea id="passages" name="passages" rows="5" placeholder="One passage a paragraph, the first is [1]. A first line that ends with a colon is its title."></textarea>
      </details>
      <div class="row">
        <label class="tick"><input type="checkbox" name="repair" /> Put right what fails</label>
        ${isRunning ? html`<button key="stop" type="button" class="main" onClick=${stop}>Stop</button>` : html`<button key="go" class="main">Check</button>`}
      </div>
    </form>
    ${checked.problem && html`<${Problem} text=${checked.problem} />`}
    ${repaired.problem && html`<${Problem} text=${repaired.problem} />`}
    <div class=${both ? "beside" : ""}>
      ${checked.answer && html`<section><h2>${both ? "As it was" : "Checked"}</h2><${Answer} answer=${checked.answer} isDone=${checked.isDone} /></section>`}
      ${both && repaired.answer && html`<section><h2>Put right</h2><${Answer} answer=${repaired.answer} isDone=${repaired.isDone} /></section>`}
    </div>
  `;
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
