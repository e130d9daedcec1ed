// The same questions to each document: a grid of answers, each with its evidence.

import { html, useEffect, useState } from "./lib.js";
import { ask, save } from "./api.js";
import { Claim } from "./answer.js";
import { Problem } from "./asking.js";
import { Evidence } from "./evidence.js";
import { authorYear } from "./metadata.js";
import { Only, filters } from "./only.js";
import { counted, pageIn, sectionIn, sheetOf } from "./text.js";
import { SIGNS, label } from "./verdicts.js";

const AT_ONCE = 4; // answers
const LISTED = 200; // documents of one request
const FORMULA = /^[=+@＝＋＠－-]/; // as in toulmin/formats/answer_table.py

export function Table() {
  const [cells, setCells] = useState([]); // {file, question}, by document
  const [answers, setAnswers] = useState({}); // by `keyOf` a cell; of a cell that failed {problem}
  const [unread, setUnread] = useState(0); // files
  const [only, setOnly] = useState(""); // filters as typed
  const [running, setRunning] = useState(null);
  const [problem, setProblem] = useState(null);
  const [chosen, setChosen] = useState(null); // {key, claim, passage}
  useEffect(() => () => running?.abort(), [running]);
  const send = async (event) => {
    event.preventDefault();
    const lines = new FormData(event.target).get("questions").split("\n");
    const questions = [...new Set(lines.map((line) => line.trim()).filter(Boolean))];
    const work = new AbortController();
    setRunning(work);
    setProblem(null);
    try {
      const files = await listed(filters(only), work.signal, setUnread);
      const all = files.flatMap((file) => questions.map((question) => ({ file, question })));
      setCells(all);
      const left = all.filter((cell) => !answers[keyOf(cell)]?.id);
      const put = (cell, answer) => setAnswers((now) => ({ ...now, [keyOf(cell)]: answer }));
      await Promise.all(Array.from({ length: AT_ONCE }, () => answerAll(left, work.signal, put)));
    } catch (error) {
      work.abort();
      if (error.name !== "AbortError") setProblem(error.message);
    }
    setRunning(null);
  };
  const done = cells.map((cell) => answers[keyOf(cell)]).filter(Boolean);
  const blank = done.filter((answer) => !answer.claims?.length).length;
  const rows = [...Map.groupBy(cells, (cell) => cell.file)];
  const open = chosen && answers[chosen.key];
  const close = () => (document.querySelector(".grid .chosen [data-claim]")?.focus(), setChosen(null));
  return html`<div>
    <h1 class="unseen">The same questions to each document</h1>
    <form class="ask" onSubmit=${send}>
      <label for="questions">Questions to each document, one a line</label>
      <textarea id="questions" name="questions" rows="5" maxlength="100000" required></textarea>
      <${Only} value=${only} set=${setOnly} />
      <div class="row"><span class="quiet" role="status">${cells.length > 0 && `${done.length} of ${counted(cells.length, "cell")}, ${blank} without an answer${unread ? `; ${counted(unread, "file")} could not be read (see Sources)` : ""}`}</span>
        ${running ? html`<button key="stop" type="button" class="main" onClick=${() => running.abort()}>Stop</button>` : html`<button key="go" class="main">Fill the table</button>`}</div>
    </form>
    ${problem && html`<${Problem} text=${problem} />`}
    ${rows.length > 0 && html`<div class=${`answer ${open ? "open" : ""}`}><div class="grid" tabindex="0" role="region" aria-label="Answers"><table>
      <thead><tr><td><button class="small" onClick=${() => save(new Blob([csv(rows, answers)]), "table.csv")}>Save as csv</button></td>${rows[0][1].map(({ question }) => html`<th scope="col" key=${question} dir="auto">${question}</th>`)}</tr></thead>
      <tbody>${rows.map(([file, row]) => html`<tr key=${file.number}><th scope="row"><bdi>${nameOf(file)}</bdi></th>${row.map((cell) => html`<${Cell} key=${cell.question} place=${keyOf(cell)} answer=${answers[keyOf(cell)]} chosen=${chosen} choose=${setChosen} />`)}</tr>`)}</tbody>
    </table></div>
    ${open && html`<${Evidence} answer=${open} place=${chosen.claim} first=${chosen.passage} isHeld=${true} close=${close} />`}</div>`}
  </div>`;
}

function Cell({ place, answer, chosen, choose }) {
  if (!answer) return html`<td class="quiet">…</td>`;
  if (!answer.claims?.length) return html`<td class="quiet"><details><summary>–</summary><bdi>${reason(answer)}</bdi></details></td>`;
  const take = (claim, passage = null, isHeld = true) => isHeld && choose({ key: place, claim, passage });
  return html`<td dir="auto">${answer.claims.map((_, n) => html`<${Claim} key=${n} answer=${answer} n=${n} chosen=${chosen?.key === place ? chosen : null} choose=${take} /> `)}</td>`;
}

function keyOf({ file, question }) {
  return `${file.number} ${file.digest} ${question}`;
}

function nameOf({ path, url, record }) {
  return [(path || url || "").split(/[\\/]/).pop(), record].filter(Boolean).join(" ");
}

function reason({ problem, notes }) {
  return problem || notes.join(" ");
}

/** The documents that pass the filters. */
async function listed(only, signal, setUnread) {
  const passing = only.map((one) => `&only=${encodeURIComponent(one)}`).join("");
  const files = [];
  for (let page = null; !page || (page.documents.length && files.length < page.total); files.push(...page.documents)) {
    page = await ask("GET", `/v1/documents?offset=${files.length}&limit=${LISTED}${passing}`, undefined, signal);
    setUnread(page.skipped_total);
  }
  return files;
}

/** Answers cells until none is left; one that fails does not end the others. */
async function answerAll(left, signal, put) {
  for (let cell = left.shift(); cell; cell = left.shift()) {
    try {
      put(cell, await ask("POST", "/v1/answers", { question: cell.question, document: cell.file.number, style: "short" }, signal));
    } catch (error) {
      if (error.name === "AbortError" || error.status === 0) throw error;
      put(cell, { problem: error.message });
    }
  }
}

/** As `toulmin table` writes it. */
function csv(rows, answers) {
  const head = ["document", "file", ...rows[0][1].flatMap(({ question }) => [question, "verdict", "place", "quote"])];
  const lines = rows.map(([file, row]) => [nameOf(file), file.path || file.url || "", ...row.flatMap((cell) => values(answers[keyOf(cell)]))]);
  const safe = (text) => `"${text.replace(/\s+/g, " ").trim().replace(FORMULA, "'$&").replaceAll('"', '""')}"`;
  return [head, ...lines].map((line) => `${line.map(safe).join(",")}\r\n`).join("");
}

function values(answer) {
  if (!answer) return ["", "", "", ""];
  if (!answer.claims?.length) return ["", answer.status || "failed", "", reason(answer)];
  const worst = Object.keys(SIGNS).findLast((name) => answer.claims.some((claim) => label(claim) === name));
  const citations = answer.claims.flatMap((claim) => claim.citations);
  const places = citations.map((citation) => {
    const { source } = answer.passages.find((one) => one.id === citation.passage);
    const page = pageIn(source, citation).replace("page", "p.");
    return [authorYear(source.metadata), sectionIn(source, citation), page].filter(Boolean).join(", ");
  });
  const all = (texts, mark) => [...new Set(texts.filter(Boolean))].join(mark);
  return [answer.claims.map((claim) => claim.text).join(" "), worst, all(places, "; "), all(citations.map(({ quote }) => quote?.text), " … ")];
}
