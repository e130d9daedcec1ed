// Copies of an answer, and documents with evidence in footnotes; the server writes them.

import { html, useEffect, useState } from "./lib.js";
import { ask, blob, download } from "./api.js";

const COPIED = { Markdown: "md", "References": "bib", JSON: "json" };

export function Taking({ answer }) {
  const [formats, setFormats] = useState(null);
  const [style, setStyle] = useState("");
  const [notice, setNotice] = useState("");
  useEffect(() => {
    ask("GET", "/v1/formats").then(setFormats).catch(() => setFormats({ formats: [], styles: [] }));
  }, []);
  const of = (format) => `/v1/answers/${encodeURIComponent(answer.id)}/export?format=${format}${style ? `&style=${encodeURIComponent(style)}` : ""}`;
  const attempt = async (work, words) => {
    try {
      await work();
      setNotice(words);
    } catch (error) {
      setNotice(error.message);
    }
  };
  const copy = (name, text) => attempt(async () => navigator.clipboard.writeText(await text()), `${name} copied.`);
  const write = async (format) => (format === "json" ? JSON.stringify(answer, null, 2) : (await blob(of(format))).text());
  const save = (event) => {
    const form = formats.formats.find((one) => one.name === event.target.value);
    event.target.value = "";
    if (form) attempt(() => download(of(form.name), `answer${form.ending}`), "Saved.");
  };
  const permalink = `${location.origin}/#/answer/${encodeURIComponent(answer.id)}`;
  return html`<div class="tools">
    <span class="quiet">Copy as</span>
    ${Object.entries(COPIED).map(([name, format]) => html`<button key=${name} class="small" onClick=${() => copy(name, () => write(format))}>${name}</button>`)}
    <button class="small" onClick=${() => copy("Link", () => permalink)}>Link</button>
    ${formats?.formats.length > 0 && html`<label class="quiet">Save as <select onChange=${save}><option value="">…</option>${formats.formats.map((one) => html`<option value=${one.name}>${one.name}: ${one.about}</option>`)}</select></label>`}
    ${formats?.styles.length > 0 && html`<label class="quiet">References in <select value=${style} onChange=${(event) => setStyle(event.target.value)}><option value="">plain style</option>${formats.styles.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>`}
    <span class="quiet" role="status">${notice}</span>
  </div>`;
}
