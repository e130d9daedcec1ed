// The questions behind a number.

const LOT = 50; // questions that are drawn at a time

const ORDERS = {
  low: "lowest value first",
  high: "highest value first",
  loss: "largest loss first",
  gain: "largest gain first",
  asked: "order of the dataset",
};

function drawBehind() {
  for (const old of document.querySelectorAll(".behind")) old.remove();
  const state = opened();
  for (const button of document.querySelectorAll(".number")) {
    const own = JSON.parse(button.dataset.state);
    const same =
      own.table === state.table &&
      own.run === state.run &&
      own.metric === state.metric &&
      own.against === state.against &&
      own.failed === state.failed;
    button.setAttribute("aria-pressed", String(same));
  }
  if (state.table === null) return;
  const table = data.tables[state.table],
    name = data.runs[state.run].name;
  const title = el(
    "h3",
    { tabindex: "-1" },
    state.failed ? "Failed questions of " : `${state.metric} of `,
    said(name),
    state.against === null ? "" : [" beside ", said(data.runs[state.against].name)],
  );
  const list = el("ul", { class: "rows" }),
    count = el("p", { class: "quiet", role: "status" }),
    more = el("button", { class: "plain more", type: "button" });
  const section = el(
    "section",
    { class: "behind", "aria-label": "Questions behind a number" },
    el(
      "header",
      {},
      el(
        "div",
        {},
        title,
        el(
          "p",
          { class: "quiet" },
          `Profile ${table.profile}, ${table.judge === null ? "no judge" : `judge ${table.judge}`}`,
        ),
      ),
      el("button", { class: "plain close", type: "button", onclick: () => hide(state) }, "Close"),
    ),
  );
  const search = el("input", { type: "search", size: 18, oninput: () => fill() });
  const orders = Object.entries(ORDERS).filter(
    ([key]) => (key !== "loss" && key !== "gain") || others(table, state).length > 0,
  );
  const order = el(
    "select",
    { oninput: () => fill() },
    orders.map(([key, words]) => el("option", { value: key, selected: key === state.sort }, words)),
  );
  const kinds = [...new Set(data.questions.map((question) => question.kind).filter((kind) => kind))].sort();
  const kind = el(
    "select",
    { oninput: () => fill() },
    el("option", { value: "" }, "all"),
    kinds.map((one) => el("option", { value: one }, one)),
  );
  section.append(
    el(
      "div",
      { class: "tools" },
      state.failed ? "" : el("label", {}, "Order", order),
      el("label", {}, "Words of the question", search),
      kinds.length > 1 ? el("label", {}, "Kind", kind) : "",
    ),
    count,
    drawHead(table, state),
    list,
    more,
  );

  let rows = [];
  function fill() {
    rows = chosen(table, state, order.value, search.value.toLowerCase(), kind.value);
    list.replaceChildren();
    more.textContent = "";
    grow();
  }
  function grow() {
    const start = list.childElementCount;
    list.append(...rows.slice(start, start + LOT).map((question) => drawRow(table, state, question)));
    const left = rows.length - list.childElementCount;
    more.hidden = left === 0;
    more.textContent = `Show ${Math.min(LOT, left)} more of ${left.toLocaleString("en")}`;
    count.textContent = one(rows.length, "question");
  }
  more.addEventListener("click", grow);
  fill();
  document.getElementById(`behind-${state.table}`).append(section);
  title.focus({ preventScroll: true });
  section.scrollIntoView({ block: "start" });
}

function hide(state) {
  const pressed = document.querySelector('.number[aria-pressed="true"]');
  show(NOTHING);
  pressed?.focus();
}

// The runs whose values stand beside a question: the one that was asked for last, what it is compared with before it.
const others = (table, state) => table.runs.map((row) => row.run).filter((run) => run !== state.run);
const baseOf = (table, state) => state.against ?? others(table, state)[0] ?? null;

function chosen(table, state, order, words, kind) {
  const parts = state.failed ? [] : partsOf(table, state.metric),
    base = baseOf(table, state);
  let rows = data.questions.map((question, at) => at).filter((at) => rowOf(table, state.run).reasons[at].length);
  if (state.failed) rows = rows.filter((at) => hasFailed(table, state.run, at));
  else
    rows = rows.filter(
      (at) =>
        meanOf(table, state.run, at, parts) !== null &&
        (state.against === null || meanOf(table, state.against, at, parts) !== null),
    );
  if (words) rows = rows.filter((at) => data.questions[at].text.toLowerCase().includes(words));
  if (kind) rows = rows.filter((at) => data.questions[at].kind === kind);
  if (state.failed || order === "asked") return rows;
  const isGap = order === "loss" || order === "gain";
  const keys = new Map(
    rows.map((at) => {
      const own = meanOf(table, state.run, at, parts),
        other = isGap && base !== null ? meanOf(table, base, at, parts) : 0;
      return [at, other === null ? null : own - other];
    }),
  );
  const sign = order === "high" || order === "gain" ? -1 : 1;
  return rows.sort(
    (a, b) => (keys.get(a) === null) - (keys.get(b) === null) || sign * (keys.get(a) - keys.get(b)) || a - b,
  );
}

// The names stand once above the values where there is room, and beside each value where there is not.
function drawHead(table, state) {
  const names = runsShown(table, state).map((run) => el("span", {}, said(data.runs[run].name)));
  if (!state.failed && baseOf(table, state) !== null) names.push(el("span", {}, "difference"));
  const parts = state.failed ? [] : partsOf(table, state.metric);
  return el(
    "div",
    { class: "question heads", "aria-hidden": "true" },
    el("span", { class: "said" }, parts.length > 1 ? `values: ${parts.map((part) => part.name).join(" / ")}` : ""),
    el("span", { class: "values" }, names),
  );
}

function drawRow(table, state, at) {
  const parts = state.failed ? [] : partsOf(table, state.metric),
    shown = runsShown(table, state);
  const values = shown.map((run) =>
    el(
      "span",
      {},
      el("i", { title: data.runs[run].name }, said(data.runs[run].name)),
      toldValue(table, run, at, parts),
    ),
  );
  const base = baseOf(table, state);
  const own = meanOf(table, state.run, at, parts),
    other = base === null ? null : meanOf(table, base, at, parts);
  if (!state.failed && base !== null) {
    const gap = own === null || other === null ? null : own - other;
    values.push(
      el("span", { class: gap ? "differs" : "" }, el("i", {}, "difference"), gap === null ? "–" : signed(gap)),
    );
  }
  const detail = el("div", { class: "detail", hidden: true });
  const button = el(
    "button",
    { class: "question", type: "button", "aria-expanded": "false" },
    said(data.questions[at].text, "span"),
    el("span", { class: "values" }, values),
  );
  button.addEventListener("click", () => {
    const opens = detail.hidden;
    if (opens && !detail.childElementCount) detail.append(...drawQuestion(table, shown, at));
    detail.hidden = !opens;
    button.setAttribute("aria-expanded", String(opens));
  });
  return el("li", {}, button, detail);
}

const runsShown = (table, state) => {
  const base = baseOf(table, state);
  const first = base === null ? [state.run] : state.against === null ? [state.run, base] : [base, state.run];
  return [...first, ...others(table, state).filter((run) => run !== base)].slice(0, 4);
};
