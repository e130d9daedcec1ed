// The library, bound once: `html` draws, the hooks remember.
import { h, render } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

import { useEffect, useState } from "./vendor/hooks.js";

export { useCallback, useEffect, useId, useMemo, useRef, useState } from "./vendor/hooks.js";
export { render };
export const html = htm.bind(h);

/** A component that is loaded when it is first drawn. */
export function later(load) {
  return function Later(props) {
    const [view, setView] = useState(null);
    useEffect(() => void load().then((found) => setView(() => found)), []);
    return view ? html`<${view} ...${props} />` : null;
  };
}
