// Vercel's AI SDK and what it gets; `.ci/clients` installs it, starts a server and runs this file.
import assert from "node:assert";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, streamText } from "ai";
import { z } from "zod";

globalThis.AI_SDK_LOG_WARNINGS = false;
const [question, silent, reason] = ["How accurate was the sea watch H4?", "How long is the Nile?", "The sources do not say."];
const options = { baseURL: process.env.OPENAI_BASE_URL, apiKey: "none" };
const openai = createOpenAI(options);
const compatible = createOpenAICompatible({ name: "toulmin", ...options });
const schema = z.object({ status: z.string(), text: z.string(), claims: z.array(z.object({ text: z.string() })) });
const sentences = (text) => text.split("].").length - 1;

async function chunks(model, prompt) {
  const texts = [];
  for await (const text of streamText({ model, prompt, maxRetries: 0 }).textStream) texts.push(text);
  return texts;
}

for (const model of [openai.chat("best"), openai.responses("best"), compatible.chatModel("best")]) {
  const ask = (more) => generateText({ model, maxRetries: 0, ...more });
  const first = await ask({ prompt: question });
  assert(sentences(first.text) > 1 && first.usage.outputTokens > 0);
  assert((await chunks(model, question)).length > 1);
  assert((await ask({ prompt: silent })).text.startsWith(reason));
  assert((await chunks(model, silent)).join("").startsWith(reason));
  assert.equal(sentences((await ask({ system: "Answer in one sentence.", prompt: question })).text), 1);
  const cut = await ask({ prompt: question, maxOutputTokens: 20 });
  assert.deepEqual([sentences(cut.text), cut.finishReason], [1, "length"]);
  const messages = [{ role: "user", content: question }, ...first.response.messages, { role: "user", content: "Who made it?" }];
  assert.match((await ask({ messages })).text, /Harrison/);
  const tools = { find: { description: "", inputSchema: z.object({}) } };
  await assert.rejects(ask({ prompt: question, toolChoice: "required", tools }), /tool_choice/);
  const image = { type: "image", image: new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]) };
  await assert.rejects(ask({ messages: [{ role: "user", content: [image] }] }), /only text is read/);
}
const model = compatible.chatModel("best"); // asks for json_object and reads what the schema names
const made = (await generateObject({ model, maxRetries: 0, schema, prompt: question })).object;
assert.equal(sentences(made.text), made.claims.length);
assert.equal((await generateObject({ model, maxRetries: 0, schema, prompt: silent })).object.status, "abstained");
await assert.rejects(generateObject({ model: openai.chat("best"), maxRetries: 0, schema, prompt: question }), /json_object/);
const previousResponseId = (await generateText({ model: openai.responses("best"), prompt: question })).providerMetadata.openai.responseId;
const following = { model: openai.responses("best"), prompt: "Who made it?", providerOptions: { openai: { previousResponseId } } };
assert.match((await generateText(following)).text, /Harrison/);
console.log("Vercel's AI SDK: all cells hold");
