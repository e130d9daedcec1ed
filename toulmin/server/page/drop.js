// Files dropped anywhere on the page become documents; nothing that is dropped makes the browser leave the page.

import { html, useEffect, useRef, useState } from "./lib.js";
import { ask } from "./api.js";
import { Report, upload } from "./uploads.js";

const EVENTS = ["dragstart", "dragend", "dragenter", "dragover", "dragleave", "drop"];
const ALLOWED = "Drop to add to the documents";
const FORBIDDEN =
  "This server accepts no files: uploads need an index in a local folder, and a token unless only this machine can connect; uploads_mb=0 turns them off.";
const NOTHING = { read: [], skipped: [], total: 0, isRunning: false, problem: "" };
// These take what is dropped on them as they always do: a draft to check, and words.
const OWN_FILES = ".check [type=file]";
const OWN_WORDS = "textarea, input:not([type=file])";

/** Says over the page what a drop will do, then what became of the files; `done` hears of each drop that was sent. */
export function Drop({ done }) {
  const [words, setWords] = useState(""); // over the page, while files are dragged there
  const [reports, setReports] = useState({}); // by drop
  const count = useRef(0);
  const last = useRef(Promise.resolve()); // the drop before
  const add = async (read) => {
    const n = count.current++;
    const tell = (report) => setReports((now) => ({ ...now, [n]: report }));
    const before = last.current;
    let end;
    last.current = new Promise((resolve) => (end = resolve));
    try {
      const [problem, files] = await Promise.all([objection(), read]);
      if (problem || !files.length) return tell({ ...NOTHING, problem: problem || "What was dropped contains no file." });
      tell({ ...NOTHING, total: files.length, isRunning: true });
      await before;
      await upload(files, tell);
      done();
    } catch (error) {
      tell({ ...NOTHING, problem: error.message });
    } finally {
      end();
    }
  };
  useEffect(() => listen(setWords, add), []);
  const close = () => {
    setReports({});
    document.getElementById("main").focus({ preventScroll: true }); // the focused button disappears
  };
  const shown = Object.entries(reports);
  return html`
    ${words && html`<div class="drop" aria-hidden="true"><p>${words}</p></div>`}
    <div class=${shown.length ? "drop-report" : ""} role="status">
      ${shown.length > 0 && html`<button class="close" aria-label="Close the report" onClick=${close}>×</button>`}
      ${shown.map(([n, report]) => html`<${Report} key=${n} report=${report} />`)}
    </div>`;
}

/** Hears what is dragged over the page until the function that it returns is called. */
function listen(setWords, add) {
  let isInner = false; // a picture of the page that is dragged over it looks like a file
  let isOver = false;
  const isFiles = ({ dataTransfer }) => !isInner && dataTransfer?.types.includes("Files");
  const leave = () => ((isOver = false), setWords(""));
  const enter = async () => {
    isOver = true;
    const problem = await objection();
    if (isOver) setWords(problem || ALLOWED);
  };
  const over = (event) => {
    if (event.target.closest?.(isFiles(event) ? OWN_FILES : OWN_WORDS)) return leave();
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = isFiles(event) ? "copy" : "none";
    if (isFiles(event) && !isOver) enter();
  };
  const drop = (event) => {
    over(event);
    leave();
    if (isFiles(event) && event.defaultPrevented) add(filesOf(event.dataTransfer));
  };
  const hearers = {
    dragstart: () => (isInner = true),
    dragend: () => (isInner = false),
    dragenter: over,
    dragover: over,
    dragleave: (event) => event.relatedTarget === null && leave(),
    drop,
  };
  EVENTS.forEach((name) => addEventListener(name, hearers[name]));
  return () => EVENTS.forEach((name) => removeEventListener(name, hearers[name]));
}

/** Lets the page hear what is dragged over a document within it, which would else open a dropped file itself. */
export function passDrags(inner) {
  for (const name of EVENTS) {
    inner.addEventListener(name, (event) => {
      const copy = new DragEvent(name, { dataTransfer: event.dataTransfer, cancelable: true });
      if (!dispatchEvent(copy)) event.preventDefault();
    });
  }
}

/** Why the server accepts no files; "" if it does. */
async function objection() {
  try {
    const { uploads } = await ask("GET", "/v1/documents?limit=1");
    return uploads ? "" : FORBIDDEN;
  } catch (error) {
    return error.message;
  }
}

/** The files, those of folders too; what a drop contains can be read only while it is heard. */
function filesOf({ items }) {
  const entries = [...items].filter(({ kind }) => kind === "file").map((item) => item.webkitGetAsEntry?.() || item.getAsFile());
  return Promise.all(entries.map(within)).then((files) => files.flat());
}

async function within(entry) {
  if (entry instanceof File) return [entry];
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  const reader = entry.createReader();
  const entries = [];
  // It returns some at a time, and none at the end.
  for (let some = null; !some || some.length > 0; entries.push(...some)) {
    some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
  }
  const shown = entries.filter(({ name }) => !name.startsWith(".")); // as the server reads folders
  shown.sort((one, other) => one.name.localeCompare(other.name));
  return (await Promise.all(shown.map(within))).flat();
}
