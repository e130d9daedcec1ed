// Values of a question, and which number is open.

const rowOf = (table, run) => table.runs.find((row) => row.run === run);
const partsOf = (table, metric) => {
  const own = table.metrics.find((one) => one.name === metric);
  return own.of.length ? own.of.flatMap((name) => partsOf(table, name)) : [own];
};

// The mean over seeds of one metric of one question, shown as its table shows it; null where it does not count.
function valueOf(table, run, question, metric) {
  const found = rowOf(table, run)
    .reasons[question].map((line) => line.values[metric.name])
    .filter((v) => v !== null && v !== undefined);
  if (!found.length) return null;
  const numbers = found.map((v) => (Array.isArray(v) ? (v[1] ? v[0] / v[1] : 0) : v));
  return (metric.scale * numbers.reduce((a, b) => a + b, 0)) / numbers.length;
}

// A derived metric has no value of its own for a question: its parts are ordered by their mean.
function meanOf(table, run, question, parts) {
  const values = parts.map((part) => valueOf(table, run, question, part)).filter((value) => value !== null);
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
}

const hasFailed = (table, run, question) =>
  rowOf(table, run).reasons[question].some((line) => line.failed) ||
  data.runs[run].answers[question].some((answer) => answer.status === "failed");

function toldValue(table, run, question, parts) {
  if (parts.length > 1) return parts.map((part) => round(valueOf(table, run, question, part))).join(" / ");
  const lines = rowOf(table, run).reasons[question];
  const value = parts.length ? valueOf(table, run, question, parts[0]) : null;
  if (value === null) return hasFailed(table, run, question) ? "failed" : lines.length ? "not counted" : "not asked";
  const counts = lines.length === 1 && parts.length ? lines[0].values[parts[0].name] : null;
  return Array.isArray(counts) ? `${counts[0]} of ${counts[1]}` : round(value);
}

// What is open is kept in the address, so that "back" works.

const NOTHING = { table: null, run: 0, metric: "", against: null, sort: "low", failed: false };

function opened() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const table = Number(asked.get("table") ?? -1),
    run = Number(asked.get("run") ?? -1),
    against = asked.has("against") ? Number(asked.get("against")) : null;
  const own = data.tables[table];
  const knows = own && rowOf(own, run) && (against === null || rowOf(own, against));
  if (!knows || (!asked.has("failed") && !own.metrics.some((one) => one.name === asked.get("metric")))) return NOTHING;
  return {
    table,
    run,
    metric: asked.get("metric") ?? "",
    against,
    sort: asked.get("sort") ?? "low",
    failed: asked.has("failed"),
  };
}

function show(wanted) {
  const told = new URLSearchParams();
  for (const [name, value] of Object.entries(wanted))
    if (value !== null && value !== false && value !== "") told.set(name, value);
  // Drawn at once, not when the browser tells of a new address: a key pressed meanwhile would miss what opened.
  if (location.hash.slice(1) !== told.toString()) history.pushState(null, "", `#${told}`);
  drawBehind();
}
