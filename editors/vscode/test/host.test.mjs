// The extension in VS Code itself: code-server carries its workbench and its extension host. Chromium sends it the keys
// and the pointer's moves of a person.
//
// EDITOR_TEST_HOST is the entry of code-server (out/node/entry.js), run by the node that runs this test. The extension
// is installed from toulmin.vsix. EDITOR_TEST_PICTURE is where the picture of the hover goes, if anywhere.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { chromium } from "playwright-core";

import { freePort, serve, stop, untilReady } from "./serving.mjs";

const VSIX = fileURLToPath(new URL("../toulmin.vsix", import.meta.url));
const TRUE = "The Board of Longitude was dissolved in 1828.";
const FALSE = "The sea watch H4 was finished in 1762.";
const FIXED = "The sea watch H4 was finished in 1759.";
const UNKNOWN = "The captain of the Deptford kept a parrot named Admiral in his cabin.";
const NOTE = `# Longitude\n\n${TRUE}\n\n${UNKNOWN}\n\n${FALSE}\n`; // lines 3, 5 and 7
const SETTINGS = {
  "chat.disableAIFeatures": true,
  "editor.hover.above": false,
  "editor.minimap.enabled": false,
  "editor.stickyScroll.enabled": false,
  "editor.wordWrap": "on",
  "files.autoSave": "off",
  "security.workspace.trust.banner": "never",
  "telemetry.telemetryLevel": "off",
  "workbench.colorTheme": "Default Light Modern",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};
// What a served document may try: none of it may become a link, a picture or a tag in the hover.
const HOSTILE =
  "The Deptford carried [forty](command:workbench.action.quit) sheep <img src=x onerror=alert(1)> https://evil.example/a ![b](https://evil.example/b.png) $(bug) to Kingston.";

let served, home, host, browser, page;

const machine = (values) => writeFile(join(home, "data", "Machine", "settings.json"), JSON.stringify(values));

before(async () => {
  served = await serve({ files: { "hostile.txt": `${HOSTILE}\n` } });
  home = await mkdtemp(join(tmpdir(), "toulmin-host-"));
  for (const folder of ["notes", "data/Machine", "data/User"]) await mkdir(join(home, folder), { recursive: true });
  await writeFile(join(home, "notes", "note.md"), NOTE);
  await writeFile(join(home, "notes", "cargo.txt"), `${HOSTILE}\n`);
  await writeFile(
    join(home, "data", "User", "settings.json"),
    JSON.stringify({ ...SETTINGS, "toulmin.checkOnSave": true }),
  );
  await machine({ "toulmin.address": served.address });
  const { HOME: _, VSCODE_IPC_HOOK_CLI: __, ...outer } = process.env;
  const options = { env: { ...outer, HOME: home }, stdio: "ignore" };
  const places = ["--user-data-dir", join(home, "data"), "--extensions-dir", join(home, "extensions")];
  const entry = process.env.EDITOR_TEST_HOST;
  await promisify(execFile)(process.execPath, [entry, ...places, "--install-extension", VSIX], options);
  const port = await freePort();
  const quiet = [
    "--auth",
    "none",
    "--disable-telemetry",
    "--disable-update-check",
    "--disable-getting-started-override",
  ];
  host = spawn(process.execPath, [entry, ...places, ...quiet, "--bind-addr", `127.0.0.1:${port}`], options);
  await untilReady(`http://127.0.0.1:${port}/healthz`, host);
  browser = await chromium.launch({
    executablePath: process.env.EDITOR_TEST_BROWSER ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  page = await browser.newPage({ viewport: { width: 1000, height: 520 } });
  page.setDefaultTimeout(30_000);
  await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(join(home, "notes"))}`);
  await open("note.md");
});

after(async () => {
  await browser?.close();
  if (host) await stop(host);
  await served?.stop();
  if (home) await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

async function open(name) {
  const row = page.locator(`.explorer-folders-view .monaco-list-row[aria-label^="${name}"]`);
  // After a reload the side bar may be hidden.
  await row.waitFor({ timeout: 10_000 }).catch(() => command("View: Show Explorer"));
  await row.dblclick();
  await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
  await page.locator(".editor-instance .view-line").first().click();
}

async function command(title) {
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").fill(`>${title}`);
  await page.locator(`.quick-input-list .monaco-list-row[aria-label*="${title}"]`).first().waitFor();
  await page.keyboard.press("Enter");
}

const line = (words) =>
  page.locator(".editor-instance .view-line", { hasText: words.slice(0, 30).replaceAll(" ", "\u00a0") });
const marks = (kind) => page.locator(`.editor-instance .squiggly-${kind}`);

async function until(count, kind) {
  const end = Date.now() + 60_000;
  while ((await marks(kind).count()) !== count) {
    assert.ok(Date.now() < end, `${await marks(kind).count()} marks of ${kind}, ${count} expected`);
    await page.waitForTimeout(100);
  }
}

async function hideHover() {
  await page.mouse.move(5, 5);
  await page.locator(".monaco-hover:visible").first().waitFor({ state: "hidden" });
}

/** The place of a line; the editor may draw it anew in the meantime. */
async function boxOf(words) {
  for (let tries = 0; tries < 50; tries++) {
    await line(words).first().waitFor();
    const box = await line(words).first().boundingBox();
    if (box) return box;
    await page.waitForTimeout(100);
  }
  assert.fail(`no line begins with ${words}`);
}

async function hover(words) {
  await hideHover();
  const box = await boxOf(words);
  await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 3 });
  const shown = page.locator(".monaco-hover:visible", { hasText: "judge" });
  await shown.first().waitFor();
  return shown.first();
}

const wordsOf = async (shown) => (await shown.innerText()).replace(/\s+/g, " ");

async function goTo(number) {
  await hideHover();
  await page.keyboard.press("Control+g");
  await page.locator(".quick-input-widget input").fill(`:${number}`);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Home");
}

async function replaceLine(number, words) {
  await goTo(number);
  await page.keyboard.press("Shift+End");
  await page.keyboard.insertText(words);
}

const save = () => page.keyboard.press("Control+s");

async function message() {
  const toast = page.locator(".notification-toast:has(.codicon-error)", { hasText: "Toulmin:" });
  await toast.waitFor();
  const words = await toast.locator(".notification-list-item-message").innerText();
  await command("Notifications: Clear All Notifications");
  return words;
}

test("the false sentence is underlined as an error, the unknown one as a warning", async () => {
  await page.keyboard.press("Control+b"); // the list of files
  await command("Toulmin: check this document");
  await until(1, "error");
  await until(1, "warning");
  assert.equal(await marks("info").count(), 0);
  for (const [kind, words] of [
    ["error", FALSE],
    ["warning", UNKNOWN],
  ]) {
    const [mark, text] = [await marks(kind).boundingBox(), await line(words).boundingBox()];
    assert.ok(Math.abs(mark.y + mark.height - (text.y + text.height)) < 4, `${kind} is not under its sentence`);
  }
});

test("the hover shows verdict, reason, judge, quote and place", async () => {
  const shown = await hover(FALSE);
  if (process.env.EDITOR_TEST_PICTURE) await page.screenshot({ path: process.env.EDITOR_TEST_PICTURE });
  const words = await wordsOf(shown);
  assert.match(words, /The sources contradict this/);
  assert.match(words, /the source says “The sea watch H4 was finished in 1759\.”/);
  assert.match(words, /contradicted 0\.\d\d, judge large-3/);
  assert.match(words, /The sea watch H4 · notes\/the_sea_watch_h4\.md, characters 93–131/);
});

test("the hover of a true sentence shows what supports it", async () => {
  assert.match(
    await wordsOf(await hover(TRUE)),
    /The sources support this .*“The Board of Longitude was dissolved in 1828, after it had paid out/,
  );
});

test("the code action opens the server's page of the source at the quote", async () => {
  await goTo(7);
  await page.keyboard.press("Control+.");
  const action = page.locator(".action-widget .monaco-list-row", { hasText: "Show the source: The sea watch H4" });
  const opened = page.context().waitForEvent("page");
  await action.first().click();
  const source = await opened;
  await source.waitForSelector("mark#marked");
  assert.match(source.url(), /\/v1\/documents\/\d+\/readable\?start=93&end=131#marked$/);
  assert.equal(await source.locator("mark").innerText(), "The sea watch H4 was finished in 1759.");
  await source.close();
});

test("an edit removes the verdict of its sentence alone", async () => {
  await replaceLine(7, FIXED);
  await until(0, "error");
  await until(1, "warning");
});

test("after a save the corrected sentence stays unmarked, and a sentence that becomes false is marked", async () => {
  await replaceLine(3, TRUE.replace("1828", "1728"));
  await save();
  await until(1, "error");
  assert.match(await wordsOf(await hover(FIXED)), /The sources support this/);
  assert.match(await wordsOf(await hover(TRUE.replace("1828", "1728"))), /The sources contradict this/);
  assert.match(await readFile(join(home, "notes", "note.md"), "utf8"), /1759/);
});

test("clear removes the marks", async () => {
  await command("Toulmin: clear");
  await until(0, "error");
  await until(0, "warning");
});

test("words of a document are shown as they are, not as links, pictures or tags", async () => {
  await page.keyboard.press("Control+b");
  await open("cargo.txt");
  await command("Toulmin: check this document");
  const shown = await hover(HOSTILE);
  const words = await wordsOf(shown);
  assert.ok(words.includes(HOSTILE.slice(0, 150)), words);
  assert.equal(
    await shown.locator(".hover-contents a[href], .hover-contents img, .hover-contents .codicon-bug").count(),
    0,
  );
  await open("note.md");
});

test("a server that stopped: the message says what to start", async () => {
  const { port } = served;
  await served.stop();
  await command("Toulmin: check this document");
  assert.match(
    await message(),
    new RegExp(`No server answers at http://127\\.0\\.0\\.1:${port}.*toulmin serve --docs FOLDER`),
  );
  served = await serve({ port, token: "a-token-for-tests-alone" });
});

test("a missing token is named, and the setting helps", async () => {
  await command("Toulmin: check this document");
  assert.match(await message(), /needs its token: write it into the setting toulmin\.token/);
  await machine({ "toulmin.address": served.address, "toulmin.token": "a-token-for-tests-alone" });
  await page.reload();
  await open("note.md");
  await command("Toulmin: check this document");
  await until(1, "error");
});

test("cancel stops a long check and leaves no mark", async () => {
  await command("Toulmin: clear");
  await replaceLine(
    7,
    Array.from({ length: 300 }, (_, n) => `The sea watch H4 lost ${n} seconds on day ${n}.`).join(" "),
  );
  await command("Toulmin: check this document");
  const toast = page.locator(".notification-toast", { hasText: "checking note.md" });
  await toast.waitFor();
  await toast.hover();
  await toast.getByRole("button", { name: "Cancel" }).click();
  await toast.waitFor({ state: "hidden" });
  const headers = { Authorization: "Bearer a-token-for-tests-alone" };
  const running = async () => (await (await fetch(`${served.address}/v1/answers`, { headers })).json()).running.length;
  for (const end = Date.now() + 30_000; await running(); await page.waitForTimeout(200)) {
    assert.ok(Date.now() < end, "the server still works");
  }
  assert.equal(await marks("error").count(), 0);
});
