// The requests and the findings, against a real `toulmin serve`.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";

import findings from "../src/findings.js";
import prose from "../src/prose.js";
import requests from "../src/server.js";
import { freePort, serve } from "./serving.mjs";

const { afterEdit, findingsOf, isMarked } = findings;
const { Failure, addressOf, check } = requests;
const TOKEN = "a-token-for-tests-alone";
const TRUE = "The Board of Longitude was dissolved in 1828.";
const FALSE = "The sea watch H4 was finished in 1762.";
const UNKNOWN = "The captain of the Deptford kept a parrot named Admiral in his cabin.";
const OWN = "The Deptford carried forty sheep and a printing press to Jamaica.";

let served;
before(async () => (served = await serve({ files: { "own.md": `# Cargo\n\n${OWN}\n` } })));
after(() => served.stop());

const server = (more = {}) => ({ address: served.address, token: "", ...more });
const never = () => new AbortController().signal;

async function findingsIn(text, path = "") {
  return findingsOf(await check(server(), prose.proseOf(text, "markdown"), never()), text, path);
}

async function failureOf(promise) {
  const error = await promise.then(assert.fail, (error) => error);
  assert.ok(error instanceof Failure, String(error.stack));
  return error.message;
}

test("a true, a false and an unknown sentence have their verdicts at their places", async () => {
  const text = `# A note 🦜\r\n\r\n🦜 ${TRUE} *${FALSE.slice(0, 16)}*${FALSE.slice(16)}\r\n\r\n- ${UNKNOWN}\r\n`;
  const found = await findingsIn(text);
  assert.deepEqual(
    found.map(({ start, end, label }) => [text.slice(start, end).replace(/[*🦜]/gu, "").trim(), label]),
    [
      [TRUE, "likely"], // a parrot is no word of the source
      [FALSE, "contradicted"],
      [UNKNOWN, "unsupported"],
    ],
  );
});

test("a contradicted sentence names the words that contradict it, and their place", async () => {
  const [{ reason, judge, sources }] = await findingsIn(FALSE);
  assert.equal(reason, "the source says “The sea watch H4 was finished in 1759.”");
  assert.ok(judge);
  assert.equal(sources[0].quote.text, "The sea watch H4 was finished in 1759.");
  assert.equal(sources[0].place, "notes/the_sea_watch_h4.md, characters 93–131");
});

test("the address of a source is the server's page of it, with the words marked", async () => {
  const answer = await check(server(), TRUE, never());
  const [{ sources }] = findingsOf(answer, TRUE, "");
  const address = await addressOf(server(), answer.id, sources[0]);
  assert.equal(address.origin, served.address);
  const marked = /<mark[^>]*>([^<]*)<\/mark>/.exec(await (await fetch(address)).text())[1];
  const line = (words) => words.replace(/\s+/g, " ");
  assert.equal(line(marked), line(sources[0].quote.text));
  assert.match(line(marked), /^The Board of Longitude was dissolved in 1828, after /);
});

test("a note in the served folder does not support itself", async () => {
  const text = `# Cargo\n\n${OWN}\n`;
  const [elsewhere] = await findingsIn(text, "/elsewhere/own.md");
  assert.equal(elsewhere.label, "supported");
  const [itself] = await findingsIn(text, join(served.notes, "own.md"));
  assert.deepEqual(
    [itself.label, itself.reason, itself.sources],
    ["unsupported", "only this document itself says so", []],
  );
});

test("an edit removes the finding that it touches and moves those after it", async () => {
  const text = `${TRUE} ${FALSE} ${UNKNOWN}`;
  const found = await findingsIn(text);
  const at = text.indexOf("1762");
  const left = afterEdit(found, { rangeOffset: at, rangeLength: 4, text: "17599" });
  assert.deepEqual(
    left.map(({ label }) => label),
    ["supported", "unsupported"],
  );
  const edited = text.replace("1762", "17599");
  assert.equal(edited.slice(left[1].start, left[1].end), UNKNOWN);
});

test("the mildest verdict decides what is marked", async () => {
  const found = await findingsIn(`${TRUE} ${FALSE} ${UNKNOWN}`);
  const marked = (mildest) => found.filter((finding) => isMarked(finding, mildest)).map(({ label }) => label);
  assert.deepEqual(marked("contradicted"), ["contradicted"]);
  assert.deepEqual(marked("unsure"), ["contradicted", "unsupported"]);
});

test("a cancelled check stops on the server", async () => {
  const controller = new AbortController();
  const long = Array.from({ length: 300 }, (_, n) => `The sea watch H4 lost ${n} seconds on day ${n}.`).join(" ");
  const checking = check(server(), long, controller.signal);
  const count = async () => (await (await fetch(`${served.address}/v1/answers`)).json()).running.length;
  const reaches = async (wanted) => {
    for (const end = Date.now() + 20_000; Date.now() < end;) {
      if ((await count()) === wanted) return true;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return false;
  };
  const cancelled = checking.then(
    () => "",
    (error) => error.name,
  );
  assert.ok(await reaches(1));
  controller.abort();
  assert.equal(await cancelled, "AbortError");
  assert.ok(await reaches(0));
});

test("a server that does not run: the message says what to start", async () => {
  const address = `http://127.0.0.1:${await freePort()}`;
  const message = await failureOf(check(server({ address }), TRUE, never()));
  assert.match(
    message,
    /^No server answers at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. Start one .*toulmin serve --docs FOLDER/,
  );
});

test("a token that is missing or wrong is named", async () => {
  const guarded = await serve({ token: TOKEN });
  try {
    const asked = (token) => check({ address: guarded.address, token }, TRUE, never());
    assert.match(await failureOf(asked("")), /needs its token: write it into the setting toulmin\.token/);
    for (const token of ["another", "ångström"])
      assert.match(await failureOf(asked(token)), /does not accept the token/);
    const answer = await asked(TOKEN);
    assert.equal(answer.claims[0].support.label, "supported");
    const [{ sources }] = findingsOf(answer, TRUE, "");
    const address = await addressOf({ address: guarded.address, token: TOKEN }, answer.id, sources[0]);
    assert.equal(String(address), `${guarded.address}/#/answer/${answer.id}`);
  } finally {
    await guarded.stop();
  }
});

test("a document of 400,000 characters is sent, and one more is refused", async () => {
  assert.match(
    await failureOf(check(server(), "🦜".repeat(400_001), never())),
    /too long: .* at most 400,000 characters, and it has 400,001/,
  );
  const longest = TRUE + "🦜".repeat(400_000 - TRUE.length);
  assert.equal((await check(server(), longest, never())).method, "check");
});

test("a check that the server could not finish is an error, not a document without marks", async () => {
  const hasty = await serve({ deadline: "0.01" });
  try {
    const message = await failureOf(
      check({ address: hasty.address, token: "" }, `${TRUE} ${FALSE} ${UNKNOWN}`, never()),
    );
    assert.match(message, /The limit of 0\.01 seconds is reached/);
  } finally {
    await hasty.stop();
  }
});

test("an address that is none is refused before anything is sent", async () => {
  for (const address of ["", "127.0.0.1:8420", "file:///etc/passwd", "http://"]) {
    assert.match(
      await failureOf(check(server({ address }), TRUE, never())),
      /should be like http:\/\/127\.0\.0\.1:8420/,
    );
  }
});

// A simulated server: what others than Toulmin may reply.
test("another server's reply is refused, and its redirect is not followed", async () => {
  const paths = [];
  let reply = [302, { Location: "/elsewhere" }, ""];
  const other = createServer((request, response) => {
    paths.push(request.url);
    response.writeHead(reply[0], reply[1]).end(reply[2]);
  });
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${other.address().port}`;
  const asked = () => failureOf(check(server({ address }), TRUE, never()));
  try {
    assert.match(await asked(), /status 302; is it a Toulmin server/);
    reply = [200, {}, "<html>"];
    assert.match(await asked(), /status 200; is it a Toulmin server/);
    reply = [200, {}, '{"claims": 3}'];
    assert.match(await asked(), /something else than an answer/);
    assert.deepEqual(paths, ["/v1/check", "/v1/check", "/v1/check"]);
  } finally {
    other.close();
  }
});
