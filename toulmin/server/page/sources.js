// What is searched: the documents, the passages of a query, and files to add.

import { html, useEffect, useRef, useState } from "./lib.js";
import { ask } from "./api.js";
import { Problem } from "./asking.js";
import { counted, place } from "./text.js";

const PAGE = 50;

export function Sources() {
  const [listed, setListed] = useState(null);
  const [offset, setOffset] = useState(0);
  const [problem, setProblem] = useState(null);
  const [done, setDone] = useState("");
  const status = useRef(null);
  const load = async (from = offset) => {
    try {
      setListed(await ask("GET", `/v1/documents?offset=${from}&limit=${PAGE}`));
      setOffset(from);
      setProblem(null);
    } catch (error) {
      setProblem(error.message);
    }
  };
  const remove = async (path, name) => {
    if (!confirm(`Delete “${name}”? The server has no other copy of the file.`)) return;
    setDone(`Deleting ${name} …`);
    status.current.focus(); // the button that had the focus goes
    try {
      await ask("DELETE", path);
      await load(offset);
      setDone(`${name} was deleted.`);
    } catch (error) {
      setDone("");
      setProblem(error.message);
    }
  };
  useEffect(() => void load(0), []);
  const isEncoding = listed?.encoded && listed.encoded.done < listed.encoded.total;
  useEffect(() => {
    const timer = isEncoding && setInterval(() => load(offset), 5000);
    return () => clearInterval(timer);
  }, [isEncoding, offset]);
  return html`
    <${Search} />
    ${problem && html`<${Problem} text=${problem} />`}
    ${listed && html`<section class="documents">
      <h2>${counted(listed.total, "document")} <span class="quiet">${counted(listed.passages, "passage")}</span></h2>
      ${isEncoding && html`<p class="quiet">Search by meaning is being made ready: ${Math.floor((100 * listed.encoded.done) / listed.encoded.total)} % of the passages${left(listed.encoded.seconds_left)}. Questions can be asked meanwhile.</p>`}
      ${listed.uploads && html`<${Upload} done=${() => (setDone(""), load(offset))} />`}
      <p class="quiet" role="status" tabindex="-1" ref=${status}><bdi>${done}</bdi></p>
      ${listed.skipped_total > 0 && html`<details class="unread"><summary>${counted(listed.skipped_total, "file")} could not be read</summary>
        <ul>${listed.skipped.map((one) => html`<li class="skipped" key=${one.path}><bdi>${one.upload ? file(one.path) : one.path}</bdi> <span class="quiet">${why(one.path, one.reason)}</span>
          ${one.upload && html` <button class="small" aria-label=${`Delete ${file(one.path)}`} onClick=${() => remove(`/v1/uploads/${one.upload}`, file(one.path))}>Delete</button>`}</li>`)}</ul>
        ${listed.skipped_total > listed.skipped.length && html`<p class="quiet">The first ${listed.skipped.length} are shown.</p>`}
      </details>`}
      <ul>${listed.documents.map((one) => html`<li key=${one.number}>
        <bdi>${one.title || place(one)}</bdi> <span class="quiet"><bdi>${one.uploaded ? `${file(one.path)}, uploaded` : one.url || one.path || ""}</bdi> · ${counted(one.passages, "passage")}${one.pages ? ` · ${counted(one.pages, "page")}` : ""}</span>
        ${one.uploaded && html` <button class="small" aria-label=${`Take out ${one.title}`} onClick=${() => remove(`/v1/documents/${one.number}`, one.title || file(one.path))}>Take out</button>`}
      </li>`)}</ul>
      ${listed.total > 0 && html`<p class="row">
        <button class="small" disabled=${offset === 0} onClick=${() => load(Math.max(0, offset - PAGE))}>Earlier</button>
        <span class="quiet">${offset + 1}–${Math.min(offset + PAGE, listed.total)} of ${listed.total}</span>
        <button class="small" disabled=${offset + PAGE >= listed.total} onClick=${() => load(offset + PAGE)}>Later</button>
      </p>`}
    </section>`}
  `;
}

/** The file's name; a person knows nothing of the folder that the server keeps uploads in. */
function file(path) {
  return path.split(/[\\/]/).pop();
}

/** The reason alone, where it begins with the name that is shown before it. */
function why(name, reason) {
  return reason.startsWith(`${name} `) ? reason.slice(name.length + 1) : reason;
}

/** The time until all passages have vectors, in words. */
function left(time) {
  return time === null ? "" : time < 90 ? `, about ${Math.ceil(time / 10) * 10} s left` : `, about ${Math.round(time / 60)} min left`;
}

function Search() {
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    const query = new FormData(event.target).get("query");
    if (!query.trim()) return;
    try {
      setFound(await ask("POST", "/v1/search", { query, k: 10 }));
      setProblem(null);
    } catch (error) {
      setProblem(error.message);
    }
  };
  return html`
    <form class="ask" onSubmit=${send} role="search">
      <label for="query">Search the passages</label>
      <div class="row"><input id="query" name="query" class="wide" maxlength="100000" /><button class="main">Search</button></div>
    </form>
    ${problem && html`<${Problem} text=${problem} />`}
    ${found && html`<section class="hits" role="status"><h2>${counted(found.hits.length, "passage")}</h2>
      ${found.hits.map(({ passage, score }) => html`<article class="passage" key=${passage.id}>
        <h4><bdi>${passage.title || passage.id}</bdi> <span class="quiet">${score.toFixed(2)}</span></h4>
        <p class="place quiet"><bdi>${place(passage.source)}</bdi></p><p class="text" dir="auto">${passage.text}</p>
      </article>`)}
    </section>`}
  `;
}

function Upload({ done }) {
  const [report, setReport] = useState(null);
  const send = async (event) => {
    event.preventDefault();
    const form = event.target;
    setReport({ isRunning: true });
    try {
      setReport(await ask("POST", "/v1/documents", new FormData(form)));
      form.reset();
      done();
    } catch (error) {
      setReport({ problem: error.message });
    }
  };
  return html`<form class="upload" onSubmit=${send}>
    <label>Add files <input type="file" name="file" multiple required /></label>
    <button class="small" disabled=${report && report.isRunning}>Upload</button>
    <div role="status">
      ${report && report.isRunning && html`<p class="quiet">Reading …</p>`}
      ${report && report.problem && html`<${Problem} text=${report.problem} />`}
      ${report && report.read && report.read.length > 0 && html`<p>Read: <bdi>${report.read.join(", ")}</bdi></p>`}
      ${report && report.skipped && report.skipped.map((one) => html`<p class="skipped"><strong>Not read:</strong> <bdi>${one.name}</bdi> <span class="quiet">${why(one.name, one.reason)}</span></p>`)}
    </div>
  </form>`;
}
