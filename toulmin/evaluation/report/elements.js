// Makes elements. Words of documents, questions and answers reach the page as text only: nothing here reads markup,
// builds an address or sends anything. The scripts of this folder stand one after the other in the page, as one module.

const data = JSON.parse(document.getElementById("data").textContent);

function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "onclick" || name === "oninput" || name === "ontoggle")
      made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(
    ...children
      .flat(Infinity)
      .filter((child) => child !== null && child !== undefined && child !== "" && child !== false),
  );
  return made;
}

// Somebody else's words: they may run right to left, and turn round nothing beside them.
const said = (text, tag = "bdi", more = "") => el(tag, { class: `said ${more}`.trim(), dir: "auto" }, text);

const SHAPES = {
  supported: "M1 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0zM3.4 6.2l1.8 1.8 3.4-3.8",
  likely: "M1 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0zM3.3 6.6q1.35-1.9 2.7-.6t2.7-.6",
  unsure: "M1 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0zM3.5 6h5",
  disputed: "M1 4h10M8.5 1.5L11 4M11 8H1M3.5 10.5L1 8",
  unsupported: "M1.5 1.5h9v9h-9zM4 4l4 4M8 4l-4 4",
  contradicted: "M6 .8L11.2 6 6 11.2.8 6zM4.2 6h3.6",
  uncited: "M1.5 6h9",
  out_of_range: "M6 1.2L11.2 10.6H.8zM6 4.6v3",
  failed: "M2 2l8 8M10 2l-8 8",
};

function shape(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({ width: 13, height: 13, viewBox: "0 0 12 12", "aria-hidden": "true" }))
    svg.setAttribute(key, value);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const drawn = {
    d: SHAPES[name] ?? SHAPES.uncited,
    fill: "none",
    stroke: "currentColor",
    "stroke-width": 1.5,
    "stroke-linecap": "round",
  };
  for (const [key, value] of Object.entries(drawn)) path.setAttribute(key, value);
  svg.append(path);
  return svg;
}

const round = (value, digits = 1) =>
  value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−");
const signed = (value) => (value > 0 ? "+" : "") + round(value);
const one = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const tone = (label) => (Object.hasOwn(SHAPES, label) ? label : "uncited");
