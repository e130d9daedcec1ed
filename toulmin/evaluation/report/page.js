// The page: tables, plots, and what it was made from.

const place = document.getElementById("report");

function numberButton(state, label, kind, ...children) {
  return el(
    "button",
    {
      class: `number ${kind}`,
      type: "button",
      "aria-label": label,
      "aria-pressed": "false",
      "data-state": JSON.stringify(state),
      onclick: () => show(state),
    },
    children,
  );
}

function cell(table, at, row, metric) {
  const found = row.metrics[metric.name],
    name = data.runs[row.run].name;
  const td = el("td", { role: "cell", "data-run": name });
  if (!found || found.value === null)
    return (td.append(el("span", { class: "quiet" }, found ? "none counts" : "–")), td);
  const range = found.low === null ? "one question" : `${round(found.low)} to ${round(found.high)}`;
  const about = found.n === row.n ? range : `${range}, ${found.n} of ${row.n}`;
  const state = { ...NOTHING, table: at, run: row.run, metric: metric.name };
  td.append(
    numberButton(
      state,
      `${metric.name} of ${name}: ${round(found.value)}, 95 % interval ${range}, ${one(found.n, "question")}. Open them.`,
      "",
      el("b", {}, round(found.value)),
      " ",
      el("span", {}, about),
    ),
  );
  const gap = row.differences[metric.name];
  if (gap && gap.difference !== null)
    td.append(gapButton(table, { ...state, against: table.runs[0].run, sort: "loss" }, gap, name));
  return td;
}

function gapButton(table, state, gap, name) {
  const sure =
    gap.probability === null ? "" : gap.probability >= 0.995 ? "> 99 %" : `${Math.round(100 * gap.probability)} %`;
  const isSame = gap.difference === 0 && gap.low === 0 && gap.high === 0;
  const range = isSame ? "the same throughout" : gap.low === null ? "" : `${signed(gap.low)} to ${signed(gap.high)}`;
  const label = `${state.metric} of ${name} beside ${data.runs[state.against].name}: ${signed(gap.difference)}, 95 % interval ${range}, real with ${sure}, ${one(gap.n, "question")}. Open them.`;
  const real = gap.probability !== null && gap.probability >= 0.95;
  return numberButton(
    state,
    label,
    "gap",
    el("b", { class: real && "real" }, signed(gap.difference)),
    " ",
    el("span", {}, range),
    " ",
    el("span", { class: real && "real" }, sure && !isSame && `real: ${sure}`),
  );
}

function drawTable(table, at) {
  const several = table.runs.length > 1,
    judge = table.judge === null ? "no judge" : `judge ${table.judge}`;
  const heads = table.runs.map((row) =>
    el(
      "th",
      { role: "columnheader", scope: "col" },
      el("span", { class: `swatch s${row.run % 6}` }),
      said(data.runs[row.run].name),
    ),
  );
  const lines = table.metrics.map((metric) =>
    el(
      "tr",
      { role: "row" },
      el("th", { role: "rowheader", scope: "row" }, metric.name, metric.meaning && el("small", {}, metric.meaning)),
      table.runs.map((row) => cell(table, at, row, metric)),
    ),
  );
  const failed = el(
    "tr",
    { role: "row" },
    el(
      "th",
      { role: "rowheader", scope: "row" },
      "failed questions",
      el("small", {}, "Left out of what they fail at."),
    ),
    table.runs.map((row) =>
      el(
        "td",
        { role: "cell", "data-run": data.runs[row.run].name },
        numberButton(
          { ...NOTHING, table: at, run: row.run, failed: true },
          `${one(row.failed, "failed question")} of ${data.runs[row.run].name}. Open them.`,
          "",
          el("b", {}, String(row.failed)),
          " ",
          el("span", {}, `of ${row.n}`),
        ),
      ),
    ),
  );
  const noted = new Map();
  for (const row of table.runs)
    for (const note of row.notes) noted.set(note, [...(noted.get(note) ?? []), data.runs[row.run].name]);
  const notes = [...noted].map(([note, names]) =>
    el("p", { class: "quiet" }, names.length === table.runs.length ? "" : [said(names.join(", ")), ": "], said(note)),
  );
  return el(
    "section",
    { "aria-labelledby": `table-${at}` },
    el("h2", { id: `table-${at}` }, said(`Profile ${table.profile}, ${judge}`)),
    el("p", { class: "quiet" }, table.limits),
    el(
      "p",
      { class: "quiet" },
      "Each value with its 95 % interval over questions" +
        (several
          ? `; below it the difference to ${data.runs[table.runs[0].run].name} on the questions that count in both, its interval, and the probability that it is real.`
          : ".") +
        " Every number opens its questions.",
    ),
    el(
      "div",
      { class: "scroll" },
      el(
        "table",
        { class: "metrics", role: "table", "aria-labelledby": `table-${at}` },
        el(
          "thead",
          { role: "rowgroup" },
          el("tr", { role: "row" }, el("th", { role: "columnheader", scope: "col" }, "metric"), heads),
        ),
        el("tbody", { role: "rowgroup" }, lines, failed),
      ),
    ),
    notes,
    el("div", { id: `behind-${at}` }),
  );
}

function drawAbout() {
  const keys = [...new Set(data.runs.flatMap((run) => run.about.map(([key]) => key)))];
  const told = data.runs.map((run) => new Map(run.about));
  const settings = new Set(data.runs.flatMap((run) => run.about.filter((one) => one[2]).map(([key]) => key)));
  const differs = (key) => new Set(told.map((one) => one.get(key) ?? "–")).size > 1;
  const quiet = keys.filter((key) => settings.has(key) && !differs(key));
  const several = data.runs.length > 1;
  return el(
    "section",
    { "aria-labelledby": "about" },
    el("h2", { id: "about" }, "What it was made from"),
    el(
      "p",
      { class: "quiet" },
      several ? "What differs between the runs is set in bold. " : "",
      `This page was written by Toulmin ${data.version}.`,
    ),
    drawKeys(
      keys.filter((key) => !quiet.includes(key)),
      told,
      differs,
    ),
    quiet.length
      ? later(`${one(quiet.length, "setting")}${several ? ", the same in every run" : ""}`, () => [
          drawKeys(quiet, told, differs),
        ])
      : "",
  );
}

function drawKeys(keys, told, differs) {
  const heads = data.runs.map((run) => el("th", { role: "columnheader", scope: "col" }, said(run.name)));
  const lines = keys.map((key) =>
    el(
      "tr",
      { role: "row", class: differs(key) && "differs" },
      el("th", { role: "rowheader", scope: "row" }, said(key)),
      told.map((own, at) => el("td", { role: "cell", "data-run": data.runs[at].name }, said(own.get(key) ?? "–"))),
    ),
  );
  const top = el("tr", { role: "row" }, el("th", { role: "columnheader", "aria-label": "what" }), heads);
  return el(
    "table",
    { class: "about", role: "table", "aria-labelledby": "about" },
    el("thead", { role: "rowgroup" }, top),
    el("tbody", { role: "rowgroup" }, lines),
  );
}

function drawPlots() {
  const plots = document.getElementById("plots").content;
  if (!plots.childElementCount && !data.remark) return "";
  return el(
    "section",
    { "aria-labelledby": "figures" },
    el("h2", { id: "figures" }, "Plots"),
    data.remark ? el("p", { class: "quiet" }, data.remark) : el("div", { class: "plots" }, plots.cloneNode(true)),
  );
}

place.replaceChildren(
  el(
    "header",
    {},
    el("h1", {}, said(data.title)),
    el("p", { class: "quiet" }, `${one(data.runs.length, "run")} over ${one(data.questions.length, "question")}.`),
  ),
  ...data.tables.map(drawTable),
  drawPlots(),
  drawAbout(),
);
addEventListener("hashchange", drawBehind);
drawBehind();
