// An Answer document (docs/answer.schema.json) as findings at the places of an editor's text.

const GRAVEST_FIRST = ["contradicted", "unsupported", "disputed", "unsure", "likely", "supported"];

/**
 * @typedef {{ start: number, end: number, text: string }} Quote offsets in its passage
 * @typedef {{ passage: string, title: string, place: string, quote: Quote | null }} Source
 * @typedef {object} Finding
 * @property {number} start offset in the note, in UTF-16 units
 * @property {number} end
 * @property {string} label
 * @property {string} reason empty for none
 * @property {string} judge
 * @property {number} score
 * @property {Source[]} sources
 */

/**
 * Finds the judged sentences, in the order of the note. `path` is the note's own: it is no evidence for itself.
 * @param {any} answer
 * @param {string} text
 * @param {string} path
 * @returns {Finding[]}
 */
function findingsOf(answer, text, path) {
  const offset = offsetsIn(text);
  const passages = new Map(answer.passages.map((/** @type {any} */ passage) => [passage.id, passage]));
  return answer.claims.flatMap((/** @type {any} */ claim) => {
    const { place, support } = claim;
    if (!place || !support) return []; // talk, as "Here is a summary:", has no verdict
    const sources = sourcesOf(claim, passages);
    const others = sources.filter((source) => passages.get(source.passage).source.path !== path);
    const { label, reason } =
      sources.length && !others.length
        ? { label: "unsupported", reason: "only this document itself says so" }
        : { label: GRAVEST_FIRST.includes(support.label) ? support.label : "unsure", reason: support.reason ?? "" };
    const start = offset(place.line, place.column);
    const end = offset(place.end_line, place.end_column);
    return [{ start, end, label, reason, judge: support.judge, score: support.score, sources: others }];
  });
}

/**
 * The cited passages; for a claim that fails, those that support it elsewhere and those that made it fail.
 * @param {any} claim
 * @param {Map<string, any>} passages
 * @returns {Source[]}
 */
function sourcesOf({ citations, support }, passages) {
  const quotes = new Map(citations.map((/** @type {any} */ citation) => [citation.passage, citation.quote]));
  const ids = new Set([...quotes.keys(), ...support.elsewhere, ...support.evidence]);
  const decisive = /“([^]+)”/.exec(support.reason ?? "")?.[1];
  return [...ids].flatMap((id) => {
    const passage = passages.get(id);
    if (!passage) return [];
    const quote = quotes.get(id) ?? quoteIn(passage.text, decisive);
    return [{ passage: id, title: passage.title, place: placeOf(passage.source, quote), quote }];
  });
}

/**
 * The place of words in a passage, which may break them into lines.
 * @param {string} text
 * @param {string | undefined} words
 * @returns {Quote | null}
 */
function quoteIn(text, words) {
  const pattern = (words ?? "")
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[^\w\s]/g, "\\$&"))
    .join("\\s+");
  const match = pattern ? new RegExp(pattern).exec(text) : null;
  if (!match) return null;
  const start = [...text.slice(0, match.index)].length;
  return { start, end: start + [...match[0]].length, text: match[0] };
}

/**
 * @param {any} source
 * @param {Quote | null} quote
 */
function placeOf(source, quote) {
  const name = source.path?.split(/[\\/]/).slice(-2).join("/") ?? source.url ?? source.record ?? "";
  if (source.page) return `${name}, ${/\.pptx$/i.test(source.path ?? "") ? "slide" : "page"} ${source.page}`;
  return quote ? `${name}, characters ${source.start + quote.start}–${source.start + quote.end}` : name;
}

/**
 * Turns lines and columns, from 1 and in code points, into offsets in UTF-16 units.
 * @param {string} text
 * @returns {(line: number, column: number) => number}
 */
function offsetsIn(text) {
  const offsets = [0];
  const lines = [0];
  for (const point of text) {
    offsets.push((offsets.at(-1) ?? 0) + point.length);
    if (point === "\n") lines.push(offsets.length - 1);
  }
  return (line, column) => offsets[(lines[line - 1] ?? 0) + column - 1] ?? text.length;
}

/**
 * The findings after an edit: what was edited has no verdict any more, and what follows it moves.
 * @param {Finding[]} findings
 * @param {{ rangeOffset: number, rangeLength: number, text: string }} change
 * @returns {Finding[]}
 */
function afterEdit(findings, { rangeOffset, rangeLength, text }) {
  const end = rangeOffset + rangeLength;
  const shift = text.length - rangeLength;
  return findings.flatMap((finding) => {
    if (finding.end < rangeOffset) return [finding];
    return finding.start > end ? [{ ...finding, start: finding.start + shift, end: finding.end + shift }] : [];
  });
}

/**
 * Whether the verdict is as grave as `mildest`, or graver.
 * @param {Finding} finding
 * @param {string} mildest
 */
function isMarked({ label }, mildest) {
  return GRAVEST_FIRST.indexOf(label) <= GRAVEST_FIRST.indexOf(mildest);
}

module.exports = { findingsOf, afterEdit, isMarked };
