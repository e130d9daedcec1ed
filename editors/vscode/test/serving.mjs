// A real `toulmin serve` over a copy of the demo's documents. EDITOR_TEST_TOULMIN names the command, EDITOR_TEST_DOCS
// the folder.

import { spawn } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const DEMO = process.env.EDITOR_TEST_DOCS ?? fileURLToPath(new URL("../../../toulmin/demo/longitude", import.meta.url));

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits until a request succeeds; fails if the process ends before. */
export async function untilReady(address, child, seconds = 120) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
    if (child.exitCode !== null) throw new Error(`the process of ${address} ended with ${child.exitCode}`);
    const reply = await fetch(address).catch(() => null);
    if (reply?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${address} was not ready in ${seconds} seconds`);
}

export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

/** Serves the demo and `files` (name to text); `stop()` ends the server and removes its folder. */
export async function serve({ files = {}, port, token = "", deadline } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "toulmin-editor-"));
  const notes = join(folder, "notes");
  await cp(DEMO, notes, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(notes, name), text);
  const used = port ?? (await freePort());
  const child = spawn(
    process.env.EDITOR_TEST_TOULMIN ?? "toulmin",
    ["serve", "--docs", notes, "--port", String(used)],
    {
      env: {
        ...process.env,
        HOME: folder,
        ...(token && { TOULMIN_TOKEN: token }),
        ...(deadline && { TOULMIN_DEADLINE: deadline }),
      },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  const address = `http://127.0.0.1:${used}`;
  const end = async () => {
    await stop(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(`${address}/readyz`, child);
  } catch (error) {
    await end();
    throw error;
  }
  return { address, notes, port: used, stop: end };
}
