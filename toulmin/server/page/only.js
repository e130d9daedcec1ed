// Which documents are read: filters that they must pass.

import { html, useState } from "./lib.js";

/** The field, with the filters as typed; its help stays, since hiding it would move what is being clicked. */
export function Only({ value, set }) {
  const [isHelping, setIsHelping] = useState(false);
  return html`<div class="only">
    <label for="only-of">Only</label> <input id="only-of" name="only" value=${value} onInput=${(event) => set(event.target.value)} maxlength="2000" autocomplete="off" placeholder="all documents" aria-describedby="only-of-help" onFocus=${() => setIsHelping(true)} />
    <p class="quiet help" hidden=${!isHelping} id="only-of-help">Reads only documents that pass: a path (<code>contracts/*.md</code>), <code>tag:policy</code>, <code>author:smith</code>, <code>title:word</code>, <code>kind:pdf</code>, <code>language:de</code>, <code>after:2024-01-01</code>, <code>before:2024-12</code>. A comma joins several, which all must pass; <code>not:</code> before one turns it round.</p>
  </div>`;
}

/** The filters of what was typed. */
export function filters(text) {
  return text.split(",").map((one) => one.trim()).filter(Boolean);
}
