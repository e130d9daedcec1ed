// Signs and words of verdicts. Two questions stay apart: is it supported, and does it answer?

export const SIGNS = { supported: "✓", likely: "≈", disputed: "⇄", unsure: "?", unsupported: "✗", contradicted: "≠", unchecked: "·" };
export const WORDS = {
  supported: "In the source",
  likely: "Probably in the source",
  disputed: "In a source; another one disagrees",
  unsure: "Perhaps in the source",
  unsupported: "Not in the source",
  contradicted: "Contradicted by the source",
  unchecked: "Not checked",
};
const ANSWERS = {
  yes: ["good", "✓", "Answers the question"],
  perhaps: ["doubt", "◐", "May answer the question"],
  no: ["bad", "✗", "May not answer the question"],
};
const REST = { likely: "probably", disputed: "disputed", unsure: "perhaps", unsupported: "not", contradicted: "contradicted" };
const TONES = { supported: "good", likely: "fair", disputed: "doubt", unsure: "doubt", unsupported: "bad", contradicted: "bad", unchecked: "quiet" };

/** The label of a claim; "unchecked" where nobody judged it. */
export function label(claim) {
  return claim.support ? claim.support.label : "unchecked";
}

/** The words for a screen reader. */
export function spoken(claim) {
  return WORDS[label(claim)].toLowerCase();
}

/** Whether it was judged and is neither supported nor likely. */
export function fails(claim) {
  return claim.support !== null && !["supported", "likely"].includes(claim.support.label);
}

/** Whether the answer answers, as `{tone, sign, words}`; null if unknown, or if nobody can tell and no name is missing. */
export function answering({ relevance }) {
  if (!relevance || (relevance.answers === "perhaps" && !relevance.unmentioned.length)) return null;
  const [tone, sign, words] = ANSWERS[relevance.answers];
  const absent = relevance.unmentioned.length ? `; its sources do not mention ${relevance.unmentioned.join(", ")}` : "";
  return { tone, sign, words: words + absent };
}

/** Whether the sources support the claims, as `{tone, sign, words}`; null without claims. */
export function sourced(claims) {
  const judged = claims.filter((claim) => claim.support);
  if (!claims.length) return null;
  if (!judged.length) return { tone: "quiet", sign: SIGNS.unchecked, words: "Not checked against the sources" };
  const counts = Object.keys(SIGNS).map((name) => [name, judged.filter((claim) => label(claim) === name).length]);
  const [worst] = [...counts].reverse().find(([, count]) => count);
  const good = counts[0][1];
  if (good === judged.length) {
    const words = good === 1 ? "The sentence is in the source" : good === 2 ? "Both sentences are in the sources" : `All ${good} sentences are in the sources`;
    return { tone: "good", sign: SIGNS.supported, words };
  }
  if (counts[1][1] === judged.length) {
    const words = judged.length === 1 ? "The sentence is probably in the source" : "The sentences are probably in the sources";
    return { tone: TONES.likely, sign: SIGNS.likely, words };
  }
  const others = counts.slice(1).filter(([, count]) => count).map(([name, count]) => `${count} ${REST[name]}`);
  return { tone: TONES[worst], sign: SIGNS[worst], words: `${good} of ${judged.length} sentences in the sources, ${others.join(", ")}` };
}
