// An answer as text for other places: Markdown, references, JSON.

import { removals } from "./rounds.js";
import { place } from "./text.js";

/** The cited passages in the order of their numbers. */
export function cited(answer) {
  return answer.passages.filter((passage) => passage.n !== null).sort((a, b) => a.n - b.n);
}

/** The answer with its sources below, verdicts that are not "supported" named. */
export function markdown(answer) {
  const doubted = answer.claims.filter((claim) => claim.support && claim.support.label !== "supported");
  const sources = cited(answer).map((one) => `[${one.n}] ${escaped(one.title || place(one.source))} (${escaped(place(one.source))})`);
  const warned = doubted.map(({ text, support }) => `* ${support.label}: ${escaped(text)}${support.reason ? ` (${escaped(support.reason)})` : ""}`);
  const gone = answer.method === "repair" ? removals(answer).map((one) => `* ~~${escaped(one.text)}~~ ${escaped(one.why)}`) : [];
  return [
    `## ${escaped(answer.question || "Checked text")}`,
    plain(answer.text || answer.notes.join(" ")),
    ...(warned.length ? ["Not supported:", warned.join("\n")] : []),
    ...(gone.length ? ["Taken away:", gone.join("\n")] : []),
    ...(sources.length ? ["Sources:", sources.join("\n")] : []),
  ].join("\n\n");
}

/** A text without links, images or HTML of its own; marks such as [1] stay. */
function plain(text) {
  return text.replace(/(?<!\\)((?:\\\\)*)(<|\[(?!(?:\d+|unsure|unsupported|contradicted)\](?![(:])))/g, "$1\\$2");
}

function escaped(text) {
  return text.replace(/[\\`*_<>\[\]]/g, "\\$&");
}

/** The cited passages as entries like those of BibTeX, one for each document. */
export function references(answer) {
  const seen = new Map();
  for (const passage of cited(answer)) {
    const key = `${passage.source.path || passage.source.url || ""} ${passage.source.record || ""} ${passage.title}`;
    if (!seen.has(key)) seen.set(key, passage);
  }
  return [...seen.values()].map(entry).join("\n\n");
}

function entry(passage) {
  const { source } = passage;
  const fields = { title: passage.title, howpublished: source.path, url: source.url, pages: source.page, note: source.record };
  const lines = Object.entries(fields)
    .filter(([, value]) => value)
    .map(([name, value]) => `  ${name} = {${String(value).replace(/[{}\\%#&_$]/g, "\\$&")}}`);
  return `@misc{source${passage.n},\n${lines.join(",\n")}\n}`;
}
