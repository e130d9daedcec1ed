// The library, bound once: `html` draws, the hooks remember.
import { h, render } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

import { useEffect, useState } from "./vendor/hooks.js";

export { useCallback, useEffect, useId, useMemo, useRef, useState } from "./vendor/hooks.js";
export { render };
export const html = htm.bind(h);

/** A component that is loaded when it is first drawn. */
export function later(load) {
  let loaded = null; // at once when it is drawn again
  return function Later(props) {
    const [view, setView] = useState(() => loaded);
    useEffect(() => void (view || load().then((found) => setView(() => (loaded = found)))), []);
    return view ? html`<${view} ...${props} />` : null;
  };
}
