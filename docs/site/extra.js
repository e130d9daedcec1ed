// Names for the landmarks round the buttons of code blocks, and the keyboard for tables that scroll.
new MutationObserver(() => {
  document.querySelectorAll(".md-code__nav").forEach((nav, n) => nav.setAttribute("aria-label", `Code ${n + 1}`));
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => table.setAttribute("tabindex", "0"));
}).observe(document.documentElement, { childList: true, subtree: true });
