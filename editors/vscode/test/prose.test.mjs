import assert from "node:assert/strict";
import { test } from "node:test";

import prose from "../src/prose.js";

const { proseOf } = prose;
const words = (text) => proseOf(text, "markdown").split(/\s+/).filter(Boolean).join(" ");

const TABLE = [
  ["front matter", "---\ntitle: H4\n---\n\nA sentence.", "A sentence."],
  ["a line between paragraphs", "One.\n\n---\n\nTwo.\n\n---\n\nThree.", "One. --- Two. --- Three."],
  ["fenced code", "One.\n\n```js\nTwo.\n```\n\nThree.", "One. Three."],
  ["a longer fence ends a shorter one", "```\nOne.\n`````\n\nTwo.", "Two."],
  ["a longer fence holds a shorter one", "~~~~\n~~~\nOne.\n~~~~\nTwo.", "Two."],
  ["a fence without an end", "One.\n\n```\nTwo.", "One."],
  ["a fence in a list", "- One.\n\n  ```\n  Two.\n  ```\n- Three.", "- One. - Three."],
  ["a comment", "One. <!-- Two. --> Three.", "One. Three."],
  ["a comment without an end", "One.\n<!-- Two.", "One."],
  ["a block that a comment leaves out", "One.\n\n<!-- toulmin: skip why -->\n\nTwo.\nThree.\n\nFour.", "One. Four."],
  ["a document that a comment leaves out", "One.\n\n<!-- toulmin: skip-file why -->\n\nTwo.\n\nThree.", "One."],
  ["mathematics", "One.\n\n$$\nx = 2\n$$\n\nThree.", "One. Three."],
  ["a quotation", "One.\n\n> Two.\nThree.\n\nFour.", "One. Four."],
  ["a table", "One.\n\n| a | b |\n|---|:-:|\n| Two. | c |\n\nThree.", "One. Three."],
  ["a table without outer bars", "a | b\n--|--\nc | d\n\nOne.", "One."],
  ["a bar in a sentence", "One | two.", "One | two."],
  ["headings", "# One\n\nTwo.\n\nThree\n=====\n\n#four", "Two. #four"],
  ["a link", "[One](two.md) three.", "One three."],
  ["a link by reference", "[One][two] three.\n\n[two]: three.md", "One three."],
  ["two citations", "One [1][2].", "One [1][2]."],
  ["a link of a wiki", "[[page#part|One]] and [[two]].", "One and two ."],
  ["an image", "![One](two.png) three.", "three."],
  ["footnotes", "One.[^a]\n\n[^a]: Two.", "One."],
  ["tags", "One <br> <b>two</b>.", "One two ."],
  ["a comparison", "One < two and three > two.", "One < two and three > two."],
  ["lines of Windows", "---\r\na: b\r\n---\r\n\r\n> One.\r\n\r\n# Two\r\n\r\nThree.", "Three."],
];

for (const [name, text, left] of TABLE) {
  test(`Markdown: ${name}`, () => assert.equal(words(text), left));
}

test("plain text is sent as it is", () => {
  const text = "# One\n\n> Two.";
  assert.equal(proseOf(text, "plaintext"), text);
});

/** A random text of the signs that the expressions look at; the seed makes it the same each time. */
function* randomTexts(count) {
  const parts = [
    "`",
    "```",
    "~~~",
    "\n",
    "\r\n",
    "\n\n",
    "---",
    "> ",
    "|",
    "<!--",
    "-->",
    "$$",
    "[",
    "]",
    "](",
    ")",
    "[[",
    "]]",
    "🦜",
    "é",
    "a ",
    "# ",
    "toulmin: skip",
    "=",
    "1",
    "<b>",
    "\u2028",
  ];
  let seed = 7;
  const next = (most) => (seed = (seed * 48271) % 2147483647) % most;
  for (let n = 0; n < count; n++) yield Array.from({ length: next(40) }, () => parts[next(parts.length)]).join("");
}

test("every sign that stays has its line and column", () => {
  for (const text of randomTexts(20_000)) {
    const [before, after] = [[...text], [...proseOf(text, "markdown")]];
    assert.equal(after.length, before.length, JSON.stringify(text));
    before.forEach((sign, n) =>
      assert.ok(after[n] === sign || (after[n] === " " && !/[\r\n]/.test(sign)), JSON.stringify(text)),
    );
  }
});

for (const part of [
  "<!--",
  "```\n",
  "[",
  "](",
  "[[",
  "|",
  "-",
  "> ",
  "$$",
  "<a",
  "a\n",
  "#",
  "=",
  " ",
  "toulmin: skip",
  "<!-- toulmin: skip ",
  "| - ",
  "![",
  "\n|\n",
  "~",
  "[^",
  "[^a",
  "![a](",
  "\n",
  "a |\n",
  "|\n-\n",
  "[a]: ",
]) {
  test(`400,000 characters of ${JSON.stringify(part)} take less than two seconds`, () => {
    const start = performance.now();
    proseOf(part.repeat(400_000 / part.length), "markdown");
    assert.ok(performance.now() - start < 2_000, `${Math.round(performance.now() - start)} ms`);
  });
}
