// The documents by name and kind, shown on click; a search of passages; uploads.

import { html, useEffect, useRef, useState } from "./lib.js";
import { ask } from "./api.js";
import { Problem } from "./asking.js";
import { About } from "./metadata.js";
import { Original } from "./original.js";
import { counted, place, recordIn, sheetOf } from "./text.js";
import { Report, upload, why } from "./uploads.js";

const PAGE = 50;
const TYPING = 200; // milliseconds after the last letter of a filter

/** `changed` counts the drops of files. */
export function Sources({ changed }) {
  const [listed, setListed] = useState(null);
  const [wanted, setWanted] = useState({ offset: 0, name: "", kind: "" });
  const [problem, setProblem] = useState(null);
  const [done, setDone] = useState("");
  const [open, setOpen] = useState(null);
  const status = useRef(null);
  const opener = useRef(null);
  const load = async ({ offset, name, kind } = wanted) => {
    try {
      setListed(await ask("GET", `/v1/documents?offset=${offset}&limit=${PAGE}&name=${encodeURIComponent(name)}&kind=${encodeURIComponent(kind)}`));
      setProblem(null);
    } catch (error) {
      setProblem(error.message);
    }
  };
  const remove = async (path, name) => {
    if (!confirm(`Delete “${name}”? The server has no other copy of the file.`)) return;
    setDone(`Deleting ${name} …`);
    status.current.focus(); // the focused button disappears
    try {
      await ask("DELETE", path);
      await load();
      setOpen(null);
      setDone(`${name} was deleted.`);
    } catch (error) {
      setDone("");
      setProblem(error.message);
    }
  };
  useEffect(() => void load(), [wanted, changed]);
  const isEncoding = listed?.encoded && listed.encoded.done < listed.encoded.total;
  useEffect(() => {
    const timer = isEncoding && setInterval(load, 5000);
    return () => clearInterval(timer);
  }, [isEncoding, wanted]);
  const show = (document, event) => ((opener.current = event.currentTarget), setOpen(open?.number === document.number ? null : document));
  const close = () => (setOpen(null), opener.current?.focus());
  return html`<div>
    <${Search} />
    ${problem && html`<${Problem} text=${problem} />`}
    ${listed && html`<div class=${`answer ${open ? "open" : ""}`}><section class="documents reading">
      <h1>${counted(listed.total, "document")}${sort(wanted)} <span class="quiet">${counted(listed.passages, "passage")} in all</span></h1>
      ${isEncoding && html`<p class="quiet">Preparing search by meaning: ${Math.floor((100 * listed.encoded.done) / listed.encoded.total)} % of the passages${left(listed.encoded.seconds_left)}. You can ask questions meanwhile.</p>`}
      ${listed.uploads && html`<${Upload} done=${() => (setDone(""), load())} />`}
      <p class="quiet" role="status" tabindex="-1" ref=${status}><bdi>${done}</bdi></p>
      <${Unread} listed=${listed} remove=${remove} />
      <${Filter} kinds=${listed.kinds} wanted=${wanted} set=${(chosen) => setWanted({ ...wanted, ...chosen, offset: 0 })} />
      <ul class="plain">${listed.documents.map((one) => html`<li key=${one.number}>
        <button class="plainly" aria-expanded=${open?.number === one.number} onClick=${(event) => show(one, event)}><bdi>${one.title || place(one)}</bdi></button>${" "}
        <span class="quiet"><bdi>${one.uploaded ? `${file(one.path)}, uploaded` : within(listed.folder, one)}</bdi> · ${counted(one.passages, "passage")}${one.pages ? ` · ${counted(one.pages, sheetOf(one.path))}` : ""}</span>
        ${one.uploaded && html` <button class="small" aria-label=${`Remove ${one.title}`} onClick=${() => remove(`/v1/documents/${one.number}`, one.title || file(one.path))}>Remove</button>`}
        <${About} metadata=${one.metadata} />
        ${one.remarks.length > 0 && html`<ul class="remarks">${one.remarks.map((words) => html`<li><bdi>${words}</bdi></li>`)}</ul>`}
      </li>`)}</ul>
      ${!listed.documents.length && html`<p class="quiet">${wanted.name || wanted.kind ? `No document${sort(wanted)}.` : "No documents yet."}</p>`}
      <${Turning} listed=${listed} offset=${wanted.offset} go=${(offset) => setWanted({ ...wanted, offset })} />
    </section>
    ${open && html`<aside class="evidence" aria-label="The document" onKeyDown=${(event) => event.key === "Escape" && close()}>
      <button class="close" aria-label="Close the document" onClick=${close}>×</button>
      <h2><bdi>${open.title || place(open)}</bdi></h2><${About} metadata=${open.metadata} />
      <p class="place quiet"><bdi>${open.path ? within(listed.folder, open) : open.url || ""}</bdi></p>
      <${Original} key=${open.number} of=${`/v1/documents/${open.number}/original`} flow="" />
    </aside>`}</div>`}
  </div>`;
}

function sort({ name, kind }) {
  return name && kind ? " of that name and kind" : name ? " of that name" : kind ? " of that kind" : "";
}

function Filter({ kinds, wanted, set }) {
  const waiting = useRef(0);
  const type = (event) => {
    const name = event.target.value;
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => set({ name }), TYPING);
  };
  return html`<div class="row filter">
    <label>Name <input type="search" name="name" value=${wanted.name} onInput=${type} maxlength="200" /></label>
    <div class="tabs" role="group" aria-label="Kinds">${Object.entries(kinds).map(([kind, count]) => html`<button key=${kind} class="small" aria-pressed=${wanted.kind === kind} onClick=${() => set({ kind: wanted.kind === kind ? "" : kind })}>${kind} <span class="quiet">${count}</span></button>`)}</div>
  </div>`;
}

function Turning({ listed, offset, go }) {
  if (listed.total <= PAGE) return null;
  return html`<p class="row">
    <button class="small" disabled=${offset === 0} onClick=${() => go(Math.max(0, offset - PAGE))}>Earlier</button>
    <span class="quiet">${offset + 1}–${Math.min(offset + PAGE, listed.total)} of ${listed.total}</span>
    <button class="small" disabled=${offset + PAGE >= listed.total} onClick=${() => go(offset + PAGE)}>Later</button>
  </p>`;
}

function Unread({ listed, remove }) {
  if (!listed.skipped_total) return null;
  return html`<details class="unread"><summary>${counted(listed.skipped_total, "file")} could not be read</summary>
    <ul>${listed.skipped.map((one) => html`<li class="skipped" key=${one.path}><bdi>${one.upload ? file(one.path) : one.path}</bdi> <span class="quiet">${why(one.path, one.reason)}</span>
      ${one.upload && html` <button class="small" aria-label=${`Delete ${file(one.path)}`} onClick=${() => remove(`/v1/uploads/${one.upload}`, file(one.path))}>Delete</button>`}</li>`)}</ul>
    ${listed.skipped_total > listed.skipped.length && html`<p class="quiet">The first ${listed.skipped.length} are shown.</p>`}
  </details>`;
}

/** The file's name; a person knows nothing of the folder that the server keeps uploads in. */
function file(path) {
  return path.split(/[\\/]/).pop();
}

/** A document's path below the common folder. */
function within(folder, source) {
  const { path, url } = source;
  const name = path && folder && path.startsWith(folder) ? path.slice(folder.length).replace(/^[\\/]/, "") : path || url || "";
  return source.record ? `${name}, ${recordIn(source)}` : name;
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
      <div class="row"><input id="query" name="query" class="wide" maxlength="100000" required /><button class="main">Search</button></div>
    </form>
    ${problem && html`<${Problem} text=${problem} />`}
    ${found && html`<section class="hits" role="status"><h2>${counted(found.hits.length, "passage")}</h2>
      ${found.hits.map(({ passage }) => html`<article class="passage" key=${passage.id}>
        <h2><bdi>${passage.title || passage.id}</bdi></h2><${About} metadata=${passage.source.metadata} />
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
    const { problem } = await upload([...form.file.files], setReport);
    if (problem) return; // they can be sent again
    form.reset();
    done();
  };
  return html`<form class="upload" onSubmit=${send}>
    <label>Add files <input type="file" name="file" multiple required /></label>
    <button class="small" disabled=${report?.isRunning}>Upload</button>
    <span class="quiet">or drop them anywhere on this page</span>
    <div role="status">${report && html`<${Report} report=${report} />`}</div>
  </form>`;
}
