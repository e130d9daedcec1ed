// The library, bound once: `html` draws, the hooks remember.
import { h, render } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { useCallback, useEffect, useId, useMemo, useRef, useState } from "./vendor/hooks.js";
export { render };
export const html = htm.bind(h);
