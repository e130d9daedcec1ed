// A running answer: the newest draft, its state, its error, and how to stop it.

import { useCallback, useEffect, useRef, useState } from "./lib.js";
import { events } from "./api.js";

const NOTHING = { answer: null, isDone: true, problem: null, id: null };

/** `[state, begin, stop]`; `begin(path, body)` ends what ran before; without a path nothing is shown. */
export function useRunning(onDone) {
  const [state, setState] = useState(NOTHING);
  const running = useRef(null);
  const stop = useCallback(() => {
    if (running.current) running.current.abort();
    setState((now) => (now.isDone ? now : { ...now, isDone: true, problem: "Cancelled." }));
  }, []);
  useEffect(() => () => running.current && running.current.abort(), []);
  const begin = useCallback(
    async (path, body) => {
      if (running.current) running.current.abort();
      if (path === null) return setState(NOTHING);
      const mine = new AbortController();
      running.current = mine;
      setState({ ...NOTHING, isDone: false });
      try {
        for await (const { name, data } of events(path, body, mine.signal)) {
          if (running.current !== mine) return;
          if (name === "begun") setState((now) => ({ ...now, id: data.id }));
          else if (name === "cancelled") setState((now) => ({ ...now, isDone: true, problem: "Cancelled." }));
          else if (name === "failed") setState((now) => ({ ...now, isDone: true, problem: data.error.message }));
          else setState({ answer: data, id: data.id, isDone: name === "done", problem: null });
          if (name === "done" && onDone) onDone(data);
        }
      } catch (error) {
        if (error.name !== "AbortError") setState((now) => ({ ...now, isDone: true, problem: error.message, status: error.status }));
      }
    },
    [onDone],
  );
  return [state, begin, stop];
}
