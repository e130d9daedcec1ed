// Earlier questions, kept in this browser only.

const KEY = "toulmin history";
const MOST = 100;

/** Newest first: `{id, question, status, at}`. */
export function remembered() {
  try {
    const held = JSON.parse(localStorage.getItem(KEY) || "[]");
    return Array.isArray(held) ? held : [];
  } catch {
    return [];
  }
}

export function remember(answer) {
  const others = remembered().filter((one) => one.id !== answer.id);
  const one = { id: answer.id, question: answer.question, status: answer.status, at: Date.now() };
  localStorage.setItem(KEY, JSON.stringify([one, ...others].slice(0, MOST)));
}

export function forget() {
  localStorage.removeItem(KEY);
}
