// A question with its answers: sentences, verdicts, citations and passages.

function drawQuestion(table, shown, at) {
  const question = data.questions[at];
  const gold = question.gold.map(([label, text]) => el("li", {}, el("i", {}, said(label)), said(text)));
  const answers = shown.flatMap((run) => {
    const lines = rowOf(table, run).reasons[at],
      given = data.runs[run].answers[at];
    return Array.from({ length: Math.max(lines.length, given.length) }, (_, seed) =>
      drawAnswer(table, run, given[seed], lines[seed], Math.max(lines.length, given.length) > 1 ? seed + 1 : null),
    );
  });
  return [
    el(
      "p",
      { class: "quiet" },
      "Question ",
      said(question.id),
      question.kind ? [", kind ", said(question.kind)] : "",
      question.gold.length ? "; held to be right:" : "; the dataset holds nothing to be right.",
    ),
    el("ul", { class: "gold" }, gold),
    el("div", { class: "answers" }, answers),
  ];
}

function drawAnswer(table, run, answer, line, seed) {
  const made = el(
    "article",
    { class: "answer", "aria-label": `Answer of ${data.runs[run].name}` },
    el(
      "h4",
      {},
      el("span", { class: `swatch s${run % 6}` }),
      said(data.runs[run].name),
      seed ? ` (answer ${seed})` : "",
    ),
  );
  made.append(facts(answer));
  if (line?.failed) made.append(el("p", {}, verdict(["failed"]), " ", said(line.failed)));
  const own = answer?.claims ?? [];
  const statements = line?.statements.length
    ? line.statements.map((one) => drawStatement(one, one.verdict))
    : own.map((one) => drawStatement(one, one.support));
  if (statements.length) made.append(el("ul", { class: "statements" }, statements));
  else
    made.append(
      el(
        "p",
        { class: "quiet" },
        answer?.status === "abstained" ? "It says that the sources do not tell." : "No sentence.",
      ),
    );
  if (line?.gold.length) made.append(el("h4", {}, "Gold answers"), checks(line.gold, "found", "missing"));
  if (line?.claims.length) made.append(el("h4", {}, "Gold claims"), checks(line.claims, "entailed", "not entailed"));
  for (const [key, text] of line?.others ?? []) made.append(el("p", { class: "quiet" }, said(key), ": ", said(text)));
  for (const note of answer?.notes ?? []) made.append(el("p", { class: "quiet" }, said(note)));
  if (answer) made.append(...drawRest(answer, line));
  if (line) made.append(later("All values of this answer", () => [drawValues(table, line)]));
  return made;
}

function facts(answer) {
  const usage = answer?.usage,
    told = [answer?.status ?? "no answer"];
  if (usage)
    told.push(
      ...[
        [usage.calls, "call"],
        [usage.tokens, "token"],
        [usage.rounds, "round"],
      ]
        .filter(([n]) => n)
        .map(([n, word]) => one(n, word)),
    );
  if (usage?.seconds) told.push(`${usage.seconds} s`);
  if (answer?.invalid) told.push(one(answer.invalid, "invalid citation"));
  return el(
    "div",
    { class: "facts" },
    told.map((text) => el("span", {}, text)),
  );
}

function verdict([label, score, judge]) {
  const number = typeof score === "number" ? score.toFixed(2) : "";
  return el(
    "span",
    { class: `tone verdict ${tone(label)}` },
    shape(label),
    label.replaceAll("_", " "),
    el("span", {}, [number, judge].filter((word) => word).join(", ")),
  );
}

function drawStatement(statement, found) {
  const told = found ?? ["not checked"];
  const below = el("div");
  const cites = statement.cites.map(([passage, n, use, start, end]) => drawCite(below, passage, n, use, start, end));
  return el(
    "li",
    { class: `statement ${tone(told[0])}` },
    verdict(told),
    el("div", {}, said(statement.text, "span"), cites),
    told[3] ? el("span", { class: "why" }, said(told[3])) : "",
    below,
  );
}

function drawCite(below, passage, n, use, start, end) {
  const words = [`[${n ?? "?"}]`, use ? [" ", el("i", {}, use)] : ""];
  if (passage === null)
    return el(
      "span",
      { class: `cite ${use ?? ""}`, title: "No such passage was read" },
      words,
      el("i", {}, " no such passage"),
    );
  let shown = null;
  const button = el(
    "button",
    {
      class: `cite ${use ?? ""}`,
      type: "button",
      "aria-expanded": "false",
      "aria-label": `Passage ${n ?? ""}${use ? `, ${use}` : ""}: ${data.passages[passage][0]}`,
    },
    words,
  );
  button.addEventListener("click", () => {
    if (shown) shown = (shown.remove(), null);
    else below.append((shown = drawPassage(passage, n, start, end)));
    button.setAttribute("aria-expanded", String(shown !== null));
  });
  return button;
}

// Offsets count code points, and a string of JavaScript counts halves of some of them.
function drawPassage(passage, n, start, end) {
  const [title, text, where] = data.passages[passage];
  const letters = Array.from(text),
    body = el("p", { class: "said", dir: "auto" });
  if (typeof start === "number")
    body.append(
      letters.slice(0, start).join(""),
      el("mark", {}, letters.slice(start, end).join("")),
      letters.slice(end).join(""),
    );
  else body.append(text);
  return el(
    "div",
    { class: "passage" },
    el("b", {}, n ? `[${n}] ` : "", said(title || "Untitled")),
    where ? el("span", { class: "quiet" }, " ", said(where)) : "",
    body,
  );
}

const checks = (rows, yes, no) =>
  el(
    "ul",
    { class: "gold" },
    rows.map(([text, holds]) =>
      el(
        "li",
        { class: holds ? "found" : "missing" },
        el(
          "span",
          { class: `verdict ${holds ? "found" : "missing"}` },
          shape(holds ? "supported" : "unsupported"),
          holds ? yes : no,
        ),
        " ",
        said(text),
      ),
    ),
  );

function later(words, draw) {
  const details = el("details", {}, el("summary", {}, words));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(...draw());
  });
  return details;
}

function drawRest(answer, line) {
  const rest = [];
  if (line?.statements.length && answer.claims.some((claim) => claim.support))
    rest.push(
      later("What was found while answering", () => [
        el(
          "ul",
          { class: "statements" },
          answer.claims.map((claim) => drawStatement(claim, claim.support)),
        ),
      ]),
    );
  if (answer.text) rest.push(later("The answer as one text", () => [said(answer.text, "p", "written")]));
  const words = answer.unread ? `, and ${answer.unread} more that are not shown` : "";
  if (answer.read.length)
    rest.push(
      later(`${one(answer.read.length, "passage")} read and not cited${words}`, () =>
        answer.read.map((passage) => drawPassage(passage, null)),
      ),
    );
  return rest;
}

function drawValues(table, line) {
  const told = table.metrics
    .filter((metric) => Object.hasOwn(line.values, metric.name))
    .map((metric) => {
      const value = line.values[metric.name];
      const words =
        value === null
          ? "not counted"
          : Array.isArray(value)
            ? `${value[0]} of ${value[1]}`
            : round(metric.scale * value);
      return el("li", {}, el("i", {}, metric.name), words);
    });
  return el("ul", { class: "gold" }, told);
}
