// How a verdict looks: always a sign and a word beside its colour.

export const SIGNS = { supported: "✓", unsure: "?", unsupported: "✗", contradicted: "≠" };
const WORDS = {
  supported: "supported by its sources",
  unsure: "not surely supported",
  unsupported: "not supported",
  contradicted: "contradicted by a source",
};

/** The label of a claim; "unchecked" where nobody judged it. */
export function label(claim) {
  return claim.support ? claim.support.label : "unchecked";
}

/** What a screen reader says of it. */
export function spoken(claim) {
  return claim.support ? WORDS[claim.support.label] : "not checked";
}

/** How many claims have which verdict, in words, the good ones first. */
export function tally(claims) {
  const counts = new Map();
  for (const claim of claims) counts.set(label(claim), (counts.get(label(claim)) || 0) + 1);
  return ["supported", "unsure", "unsupported", "contradicted", "unchecked"]
    .filter((name) => counts.has(name))
    .map((name) => `${counts.get(name)} ${name}`)
    .join(", ");
}
