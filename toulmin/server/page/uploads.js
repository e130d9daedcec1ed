// Files on their way to the documents, in requests of bearable size, and what became of each.

import { html } from "./lib.js";
import { ask } from "./api.js";
import { Problem } from "./asking.js";

// Of one request, as in toulmin/server/uploads.py.
const MOST_FILES = 50;
const MOST_BYTES = 99_000_000; // a million less, for what a form adds

/** Sends files one request after the other; `tell` hears what became of them so far, and last what is returned. */
export async function upload(files, tell) {
  let report = { read: [], skipped: [], total: files.length, isRunning: true, problem: "" };
  const note = (more) => (tell((report = { ...report, ...more })), report);
  note({});
  for (const batch of batches(files)) {
    try {
      const { read, skipped } = await ask("POST", "/v1/documents", formOf(batch));
      note({ read: [...report.read, ...read], skipped: [...report.skipped, ...skipped] });
    } catch (error) {
      if (error.status !== 413) return note({ isRunning: false, problem: error.message });
      // A file that is too large says nothing of the others.
      note({ skipped: [...report.skipped, ...batch.map(({ name }) => ({ name, reason: error.message }))] });
    }
  }
  return note({ isRunning: false });
}

function batches(files) {
  const all = [];
  let bytes = 0;
  for (const file of files) {
    bytes += file.size;
    if (all.length && all.at(-1).length < MOST_FILES && bytes <= MOST_BYTES) all.at(-1).push(file);
    else [bytes] = [file.size, all.push([file])];
  }
  return all;
}

function formOf(files) {
  const form = new FormData();
  for (const file of files) form.append("file", file);
  return form;
}

/** What became of uploaded files. */
export function Report({ report: { read, skipped, total, isRunning, problem } }) {
  const done = read.length + skipped.length;
  return html`
    ${isRunning && html`<p class="quiet">Reading ${total > MOST_FILES ? `${done} of ${total} files ` : ""}…</p>`}
    ${problem && html`<${Problem} text=${problem} />`}
    ${problem && done > 0 && html`<p>${total - done} of ${total} files were not sent.</p>`}
    ${read.length > 0 && html`<p>Read: <bdi>${read.join(", ")}</bdi></p>`}
    ${skipped.map((one) => html`<p class="skipped"><strong>Not read:</strong> <bdi>${one.name}</bdi> <span class="quiet">${why(one.name, one.reason)}</span></p>`)}
  `;
}

/** The reason without the file name before it. */
export function why(name, reason) {
  return reason.startsWith(`${name} `) ? reason.slice(name.length + 1) : reason;
}
