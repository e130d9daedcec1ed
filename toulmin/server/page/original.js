// The original beside an answer: a PDF's pages with the words' lines boxed, or the document as it looks with them marked.

import { html, useEffect, useRef, useState } from "./lib.js";
import { ask, blob } from "./api.js";
import { passDrags } from "./drop.js";

const CHANGED = "The document has changed since the answer was written; this is the passage as it was.";
const NEAR = "600px"; // pages are fetched this long before they come into sight

/** `of` is the server's address of the original; `flow` is drawn where there is none to show. */
export function Original({ of, flow }) {
  const [original, setOriginal] = useState(null);
  useEffect(() => {
    setOriginal(null);
    let isWanted = true;
    ask("GET", of)
      .then((found) => isWanted && setOriginal(found))
      .catch((error) => isWanted && setOriginal({ state: "none", reason: error.status === 404 ? CHANGED : error.message }));
    return () => (isWanted = false);
  }, [of]);
  if (!original) return html`<p class="quiet" role="status">Opening the original …</p>`;
  if (original.state !== "same" || original.reason) {
    return html`<div class="original" ref=${toMark}>${flow}<p class="quiet">${original.reason || "The original cannot be shown."}</p></div>`;
  }
  return html`<div class="original">
    ${original.kind === "pages" ? html`<${Pages} original=${original} />` : html`<${Readable} original=${original} />`}
    <p class="tools"><button class="small" onClick=${() => openFile(original)}>Open the file</button> <span class="quiet"><bdi>${original.path?.split(/[\\/]/).pop() || ""}</bdi></span></p>
  </div>`;
}

/** Scrolls what holds the words to them, and nothing else. */
function toMark(place) {
  const mark = place?.querySelector("mark"), pane = place?.closest(".evidence");
  if (mark && pane) pane.scrollTop = Math.max(0, mark.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 2);
}

/** The file in a tab of its own where a browser shows it, else as a download; fetched, since links carry no token. */
async function openFile({ number, path }) {
  const file = await blob(`/v1/documents/${number}/file`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  if (file.type === "application/pdf") link.target = "_blank";
  else link.download = path.split(/[\\/]/).pop();
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function Pages({ original }) {
  const list = useRef(null);
  const first = original.marks[0]?.page || original.page || 1;
  const [shown, setShown] = useState(first);
  const goTo = (page) => {
    const at = Math.min(Math.max(page, 1), original.sizes.length);
    list.current.scrollTop = list.current.children[at - 1].offsetTop - 8;
  };
  useEffect(() => {
    const mark = list.current.querySelector(".box");
    if (!mark) return goTo(first);
    const page = mark.parentElement;
    list.current.scrollTop = page.offsetTop + mark.offsetTop - list.current.clientHeight / 3;
  }, [original]);
  const look = () => {
    const middle = list.current.scrollTop + list.current.clientHeight / 2;
    const after = [...list.current.children].findIndex((page) => page.offsetTop > middle);
    setShown(after < 0 ? original.sizes.length : Math.max(after, 1));
  };
  return html`
    <p class="turning">
      <button class="small" aria-label="Page before" disabled=${shown <= 1} onClick=${() => goTo(shown - 1)}>‹</button>
      <span class="quiet">page ${shown} of ${original.sizes.length}</span>
      <button class="small" aria-label="Next page" disabled=${shown >= original.sizes.length} onClick=${() => goTo(shown + 1)}>›</button>
      ${original.marks.length > 0 && html`<button class="small" onClick=${() => goTo(first)}>To the marked words</button>`}
    </p>
    <div class="pages" ref=${list} onScroll=${look} tabindex="0" role="region" aria-label="Pages of the original">
      ${original.sizes.map((size, n) => html`<${Sheet} key=${n} number=${original.number} page=${n + 1} size=${size} marks=${original.marks.filter((mark) => mark.page === n + 1)} />`)}
    </div>`;
}

function Sheet({ number, page, size, marks }) {
  const sheet = useRef(null);
  const [picture, setPicture] = useState(null);
  useEffect(() => {
    let address = null, isWanted = true;
    const load = async () => {
      const width = Math.min(2400, Math.ceil((sheet.current.clientWidth * (devicePixelRatio || 1)) / 100) * 100);
      try {
        const image = await blob(`/v1/documents/${number}/pages/${page}?width=${Math.max(width, 300)}`);
        address = URL.createObjectURL(image);
        if (isWanted) setPicture(address);
      } catch {
        if (isWanted) setPicture("");
      }
    };
    const watch = new IntersectionObserver(([entry]) => entry.isIntersecting && (watch.disconnect(), load()), {
      root: sheet.current.parentElement,
      rootMargin: NEAR,
    });
    watch.observe(sheet.current);
    return () => ((isWanted = false), watch.disconnect(), address && URL.revokeObjectURL(address));
  }, [number, page]);
  const percent = (part) => `${100 * part}%`;
  return html`<div class="sheet" ref=${sheet} style=${{ aspectRatio: `${size[0]} / ${size[1]}` }}>
    ${picture && html`<img src=${picture} alt=${`Page ${page}`} />`}
    ${picture === "" && html`<p class="quiet">Page ${page} cannot be drawn.</p>`}
    ${marks.map((mark) => html`<span class="box" style=${{ left: percent(mark.x), top: percent(mark.y), width: percent(mark.width), height: percent(mark.height) }} />`)}
  </div>`;
}

function Readable({ original }) {
  const [source, setSource] = useState(null);
  const { number, start, end } = original;
  useEffect(() => {
    let isWanted = true;
    blob(`/v1/documents/${number}/readable${start === null ? "" : `?start=${start}&end=${end}`}`)
      .then((file) => file.text())
      .then((text) => isWanted && setSource(text))
      .catch((error) => isWanted && setSource(`<!doctype html><p>${error.message.replace(/[<&]/g, "")}</p>`));
    return () => (isWanted = false);
  }, [number, start, end]);
  const prepare = ({ target }) => {
    if (target.contentDocument) passDrags(target.contentDocument);
    const mark = target.contentDocument?.getElementById("marked"); // scrollIntoView would scroll this page too
    if (mark) target.contentDocument.scrollingElement.scrollTop = mark.getBoundingClientRect().top - target.clientHeight / 3;
  };
  if (source === null) return html`<p class="quiet" role="status">Opening the original …</p>`;
  // Without allow-scripts nothing in it runs; with allow-same-origin this page can scroll it.
  return html`<iframe class="readable" title="The original, with the words marked" sandbox="allow-same-origin" srcdoc=${source} onLoad=${prepare}></iframe>`;
}
