// The page: the open view, and the token if the server needs one.

import { html, later, render, useEffect, useState } from "./lib.js";
import { ask, token } from "./api.js";
import { Asking, Problem } from "./asking.js";
import { Drop } from "./drop.js";

// The other views load when opened.
const VIEWS = { ask: "Ask", check: "Check", table: "Table", compare: "Compare", sources: "Sources" };
const LATER = {
  check: later(async () => (await import("./checking.js")).Checking),
  table: later(async () => (await import("./table.js")).Table),
  compare: later(async () => (await import("./comparing.js")).Comparing),
  sources: later(async () => (await import("./sources.js")).Sources),
};

function route() {
  const [name, id] = location.hash.replace(/^#\//, "").split("/");
  return name === "answer" ? { name: "ask", id: decodeURIComponent(id || "") } : { name: VIEWS[name] ? name : "ask", id: null };
}

function Page() {
  const [at, setAt] = useState(route);
  const [methods, setMethods] = useState(null);
  const [problem, setProblem] = useState(null);
  const [changed, setChanged] = useState(0); // how often files were dropped
  const load = async () => {
    try {
      setMethods(await ask("GET", "/v1/methods"));
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => {
    const move = () => setAt(route());
    addEventListener("hashchange", move);
    load();
    return () => removeEventListener("hashchange", move);
  }, []);
  return html`
    <a class="skip" href="#main">Skip to the content</a>
    <header><a class="brand" href="#/ask"><img src="icon.svg" alt="" width="28" height="28" /> Toulmin</a>
      <nav aria-label="Views">${Object.entries(VIEWS).map(([name, words]) => html`<a key=${name} href=${`#/${name}`} aria-current=${at.name === name ? "page" : undefined}>${words}</a>`)}</nav>
    </header>
    <main id="main" tabindex="-1">
      ${problem && (problem.status === 401 ? html`<${Token} retry=${load} />` : html`<${Problem} text=${problem.message} />`)}
      ${methods && at.name === "ask" && html`<${Asking} methods=${methods} id=${at.id} changed=${changed} />`}
      ${methods && LATER[at.name] && html`<${LATER[at.name]} key=${at.name} methods=${methods} changed=${changed} />`}
    </main>
    <${Drop} done=${() => setChanged((now) => now + 1)} />
  `;
}

function Token({ retry }) {
  const send = (event) => {
    event.preventDefault();
    token.set(new FormData(event.target).get("token").trim());
    retry();
  };
  return html`<form class="ask" onSubmit=${send}>
    <label for="token">This server needs its token</label>
    <div class="row"><input id="token" name="token" type="password" class="wide" autocomplete="off" required /><button class="main">Continue</button></div>
    <p class="quiet">The person who started the server knows it. This tab keeps it until it closes.</p>
  </form>`;
}

const place = document.getElementById("page");
place.textContent = "";
render(html`<${Page} />`, place);
