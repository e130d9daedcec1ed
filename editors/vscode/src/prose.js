// What a server should judge of a note: its sentences, each at its place.
//
// The server reads a text as it stands. In Markdown, what is no sentence of the author is therefore replaced by as many
// spaces: front matter, code, tables, quotations, headings, comments, mathematics and the targets of links.
//
// `$(?![^])` is the end of the text: a block without an end takes the rest, as in Markdown. No expression starts twice
// over the same words, so that the time grows with the length alone.

const BLOCKS = [
  /(?<![^])---[ \t]*\r?\n[^]*?^(?:---|\.\.\.)[ \t]*\r?$/, // front matter
  /^[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(?<fence>`{3,}|~{3,})[^`\n]*$[^]*?(?:^[ \t>]*\k<fence>.*|$(?![^]))/,
  /<!--\s*toulmin:\s*skip-file[^]*/,
  /<!--\s*toulmin:\s*skip\b[^]*?(?:-->\s*[^]*?(?=\n[ \t]*\r?\n|$(?![^]))|$(?![^]))/, // with the block after it
  /<!--[^]*?(?:-->|$(?![^]))/,
  /\$\$[^]*?(?:\$\$|$(?![^]))/,
];
const LINES = [
  /^[ \t]*>.*(?:\r?\n[ \t]*[^\s].*)*/, // a quotation, with the lines that continue it
  /^[^|\n]*\|.*\r?\n(?=[ \t|:]*-)[-:| \t]+\r?$(?:\n[^|\n]*\|.*)*/, // a table
  /^[^\n]+\n[ \t]*(?:=+|-+)[ \t]*\r?$/, // an underlined heading
  /^[ \t]*#{1,6}(?:[ \t].*)?$/,
  /^[ \t]*\[[^\]\n]+\]:.*$/, // what a link or a footnote stands for
];
const WORDS = [/!\[[^[\]\n]*\]\([^()\n]*\)/, /\[\^[^[\]\n]+\]/, /<\/?[a-z][^<>\n]*>/]; // images, footnotes, tags
const BLANKS = [BLOCKS, LINES, WORDS].map((each) => new RegExp(each.map((one) => one.source).join("|"), "gim"));
const LINK = /\[(?!\d+\])([^[\]\n]*)\](\([^()\n]*\)|\[[^[\]\n]*\])/g; // [1][2] are two citations
const WIKI_LINK = /\[\[([^[\]|\n]*\|)?([^[\]\n]*)\]\]/g;

/**
 * As many spaces as code points, which is how the server counts columns. Lines stay.
 * @param {string} text
 */
function blank(text) {
  return text.replace(/[^\r\n]/gu, " ");
}

/**
 * The text to send: every sentence has the line and column that it has in the note.
 * @param {string} text
 * @param {string} language the editor's name of it
 */
function proseOf(text, language) {
  if (language !== "markdown") return text;
  return BLANKS.reduce((left, pattern) => left.replace(pattern, blank), text)
    .replace(WIKI_LINK, (_, page, words) => `  ${blank(page ?? "")}${words}  `)
    .replace(LINK, (_, words, target) => ` ${words} ${blank(target)}`);
}

module.exports = { proseOf };
