// Requests to the server; the page calls nothing else.

const TOKEN = "toulmin token";

/** An error that a person can read; `status` is the server's, 0 where it was not reached. */
export class Failed extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN) || "",
  set: (value) => sessionStorage.setItem(TOKEN, value),
};

function isRaw(body) {
  return body === undefined || body instanceof FormData || body instanceof Blob;
}

function headers(body) {
  const held = token.get() ? { Authorization: `Bearer ${token.get()}` } : {};
  return isRaw(body) ? held : { ...held, "Content-Type": "application/json" };
}

async function reply(method, path, body, signal) {
  const sent = isRaw(body) ? body : JSON.stringify(body);
  let found;
  try {
    // Relative to the page, which may lie under a path of a proxy.
    found = await fetch(path.slice(1), { method, body: sent, headers: headers(body), signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed("The server cannot be reached; is it still running?", 0);
  }
  if (!found.ok) throw new Failed(await message(found), found.status);
  return found;
}

async function message(found) {
  try {
    return (await found.json()).error.message;
  } catch {
    return `The server replied with ${found.status}.`;
  }
}

/** A reply of JSON. */
export async function ask(method, path, body, signal) {
  const found = await reply(method, path, body, signal);
  return found.status === 204 ? null : found.json();
}

/** A reply as a file, fetched with the token, which links and images cannot carry. */
export async function blob(path, method = "GET", body = undefined) {
  return (await reply(method, path, body)).blob();
}

/** Downloads a file that the server makes. */
export async function download(path, name, method = "GET", body = undefined) {
  save(await blob(path, method, body), name);
}

/** Gives a person a file to keep. */
export function save(file, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The events of a stream as they come: `{name, data}`. */
export async function* events(path, body, signal) {
  const found = await reply("POST", path, { ...body, stream: true }, signal);
  const reader = found.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      held += value;
      const blocks = held.split("\n\n");
      held = blocks.pop();
      for (const block of blocks) {
        const event = parsed(block);
        if (event) yield event;
      }
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed("The answer broke off; the server may have stopped.", 0);
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parsed(block) {
  const lines = block.split("\n");
  const name = lines.find((line) => line.startsWith("event: "));
  const data = lines.find((line) => line.startsWith("data: "));
  return data ? { name: name ? name.slice(7) : "", data: JSON.parse(data.slice(6)) } : null;
}
