// Requests to the server of the settings; nothing else is called, and no redirect is followed.

const http = require("node:http");
const https = require("node:https");

const LONGEST = 400_000; // characters of a text, in code points, that the server accepts

/** An error that a person can read. */
class Failure extends Error {}

/** @typedef {{ address: string, token: string }} Server */

/**
 * The reply, parsed. Aborting the signal ends the request, and the server then stops its work.
 * @param {Server} server
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @param {unknown} [body] posted as JSON
 * @returns {Promise<any>}
 */
async function ask(server, path, signal, body) {
  const url = urlOf(server, path);
  if (/[^!-~]/.test(server.token)) throw new Failure(WRONG_TOKEN);
  const { status, text } = await send(url, server.token, signal, body).catch((error) => {
    if (signal?.aborted) throw error;
    throw new Failure(`No server answers at ${server.address} (${error.code ?? error.message}). ${START}`);
  });
  if (status === 401) throw new Failure(server.token ? WRONG_TOKEN : NO_TOKEN);
  const reply = parse(text);
  if (status === 200 && reply) return reply;
  const why = reply?.error?.message ?? `It replied with status ${status}; is it a Toulmin server?`;
  throw new Failure(`${server.address}: ${why}`);
}

const START = "Start one in a terminal: toulmin serve --docs FOLDER. The setting toulmin.address names it.";
const NO_TOKEN = "The server needs its token: write it into the setting toulmin.token.";
const WRONG_TOKEN = "The server does not accept the token in the setting toulmin.token.";

/**
 * @param {Server} server
 * @param {string} path
 */
function urlOf({ address }, path) {
  if (/^https?:\/\/./i.test(address) && URL.canParse(address)) return new URL(address.replace(/\/+$/, "") + path);
  throw new Failure(`The setting toulmin.address should be like http://127.0.0.1:8420, not “${address}”.`);
}

/**
 * @param {URL} url
 * @param {string} token
 * @param {AbortSignal} [signal]
 * @param {unknown} [body]
 * @returns {Promise<{ status: number, text: string }>}
 */
function send(url, token, signal, body) {
  const { request } = url.protocol === "https:" ? https : http;
  const headers = {
    ...(body ? { "Content-Type": "application/json" } : {}),
    ...(token ? { Authorization: `Bearer ${token}` } : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body ? "POST" : "GET", headers, signal }, (reply) => {
      let text = "";
      reply
        .setEncoding("utf8")
        .on("data", (part) => (text += part))
        .on("error", reject);
      reply.on("end", () => resolve({ status: reply.statusCode ?? 0, text }));
    });
    sent.on("error", reject).end(body && JSON.stringify(body));
  });
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * The Answer document of a text.
 * @param {Server} server
 * @param {string} text
 * @param {AbortSignal} signal
 */
async function check(server, text, signal) {
  const length = [...text].length;
  if (length > LONGEST) {
    const [most, now] = [LONGEST, length].map((count) => count.toLocaleString("en"));
    throw new Failure(`This document is too long: a check takes at most ${most} characters, and it has ${now}.`);
  }
  const answer = await ask(server, "/v1/check", signal, { text });
  if (answer.status === "failed") throw new Failure(`The check failed. ${[answer.notes].flat().join(" ")}`);
  if (Array.isArray(answer.claims) && Array.isArray(answer.passages)) return answer;
  throw new Failure(`${server.address} replied with something else than an answer; is it a Toulmin server?`);
}

/**
 * The address of a document at a quote. A browser cannot send the token, so a server with one shows its page of the
 * whole check, which asks for the token.
 * @param {Server} server
 * @param {string} answer
 * @param {import("./findings").Source} source
 */
async function addressOf(server, answer, { passage, quote }) {
  if (server.token) return urlOf(server, `/#/answer/${encodeURIComponent(answer)}`);
  const words = quote ? `?start=${quote.start}&end=${quote.end}` : "";
  const original = await ask(server, `/v1/passages/${encodeURIComponent(passage)}/original${words}`);
  if (original.state !== "same") throw new Failure(`${original.title}: ${original.reason}`);
  const document = `/v1/documents/${Number(original.number)}`;
  if (original.kind === "pages") return urlOf(server, `${document}/file#page=${Number(original.page)}`);
  if (!quote) return urlOf(server, `${document}/readable`);
  return urlOf(server, `${document}/readable?start=${Number(original.start)}&end=${Number(original.end)}#marked`);
}

module.exports = { Failure, check, addressOf };
