// Names for the landmarks round the buttons of code blocks, the keyboard for tables that scroll, and no empty headings.
new MutationObserver(() => {
  document.querySelectorAll(".md-code__nav").forEach((nav, n) => nav.setAttribute("aria-label", `Code ${n + 1}`));
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => table.setAttribute("tabindex", "0"));
  document.querySelectorAll("th:empty").forEach((cell) => cell.replaceWith(document.createElement("td")));
}).observe(document.documentElement, { childList: true, subtree: true });
