// The theme wraps the buttons of a code block in a landmark; each needs a name of its own.
new MutationObserver(() => {
  document.querySelectorAll(".md-code__nav").forEach((nav, n) => {
    nav.setAttribute("aria-label", `Code ${n + 1}`);
  });
}).observe(document.documentElement, { childList: true, subtree: true });
