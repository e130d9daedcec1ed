// Offsets of the server are code points; those of a browser are UTF-16 units. This is the edge between them.

/** The UTF-16 index of a code point's place in a text. */
export function unit(text, place) {
  let at = 0;
  for (let seen = 0; seen < place && at < text.length; seen += 1) {
    at += text.codePointAt(at) > 0xffff ? 2 : 1;
  }
  return at;
}

/** The text from one code point to another. */
export function slice(text, start, end) {
  return text.slice(unit(text, start), unit(text, end));
}

/** The text in three: before, within and behind a span of code points. */
export function parts(text, span) {
  const start = unit(text, span.start);
  const end = unit(text, span.end);
  return [text.slice(0, start), text.slice(start, end), text.slice(end)];
}

const REST = "[^]*?(?:[.!?][”’\"')\\]]*(?=\\s)|[。！？]|(?=\\n\\s*\\n)|$)"; // of a sentence

/** The span, in code points, of words in a text with other line breaks, or of the sentence that they begin; null if it has none. */
export function find(text, words, isBeginning) {
  const patterns = words.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const match = new RegExp(patterns.join("\\s+") + (isBeginning ? REST : "")).exec(text);
  if (!match) return null;
  const start = [...text.slice(0, match.index)].length;
  return { start, end: start + [...match[0]].length };
}

/** Where a passage stands, in words, or the cited words of it. */
export function place(source, citation = {}) {
  const at = source.url || source.path || "";
  const name = source.url ? at : at.split(/[\\/]/).slice(-2).join("/");
  const page = pageIn(source, citation);
  const above = sectionIn(source, citation);
  const sheet = page ? `, ${page}` : "";
  const record = source.record ? `${name ? ", " : ""}${recordIn(source)}` : "";
  const section = above ? `${name || record ? ", " : ""}${above}` : "";
  return `${name}${record}${sheet}${section}` || `characters ${source.start}–${source.end}`;
}

/** What a source is of its file: "record 17", "attached plan.pdf". */
export function recordIn({ record }) {
  return record.startsWith("attached ") ? record : `record ${record}`;
}

/** The page of cited words, with the label that is printed on it, or "". */
export function pageIn(source, { page, page_label: label }) {
  const number = page || source.page;
  if (!number) return "";
  return label ? `${sheetOf(source.path)} ${label} (${number} of the file)` : `${sheetOf(source.path)} ${number}`;
}

/** The headings over cited words; of the passage, where they are unknown. */
export function sectionIn(source, { section }) {
  return section ?? source.section;
}

/** What a page of that file is called. */
export function sheetOf(path) {
  return /\.pptx$/i.test(path || "") ? "slide" : "page";
}

/** Seconds in words. */
export function seconds(value) {
  return value < 10 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`;
}

/** `count` of a thing, in the plural unless it is 1. */
export function counted(count, thing) {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/** The beginning of a text, to about `most` characters, cut between words. */
export function short(text, most) {
  const words = text.replace(/\s+/g, " ").trim();
  return words.length <= most ? words : `${words.slice(0, words.lastIndexOf(" ", most))} …`;
}

/** The UTF-16 index of a place in a text: its line and column, in code points, count from 1. */
export function offset(text, line, column) {
  let at = 0;
  for (let n = 1; n < line; n += 1) at = text.indexOf("\n", at) + 1;
  return at + unit(text.slice(at), column - 1);
}
