// What is known of a document, in words: its authors, its date and how old that is, version, language and tags.

import { html } from "./lib.js";
import { counted } from "./text.js";

const MOST = 5; // authors or tags that are named
const DAY = 86_400_000; // milliseconds
const MONTHS = "January February March April May June July August September October November December".split(" ");

/** All of it, on a line of its own. */
export function About({ metadata }) {
  const words = about(metadata);
  return words && html`<p class="about quiet"><bdi>${words}</bdi></p>`;
}

/** All of it in words; "" for nothing. */
export function about(metadata, today = new Date()) {
  const { version, language, tags = [] } = metadata || {};
  const edition = version && `version ${version.replace(/^v\.?\s*(?=\d)/i, "")}`;
  const tongue = language && `in ${languageOf(language)}`;
  const labels = tags.length > 0 && `tags: ${listOf(tags, ", ")}`;
  return [byline(metadata, today), edition, tongue, labels].filter(Boolean).join(" · ");
}

/** The authors and the date with its age. The day on which a file changed is no date of its text, so it has no age. */
export function byline(metadata, today = new Date()) {
  const { authors = [], date = "", is_file_date } = metadata || {};
  const day = is_file_date ? `file changed ${date}` : [dayOf(date), ageOf(date, today)].filter(Boolean).join(", ");
  return [listOf(authors, "; "), date && day].filter(Boolean).join(" · ");
}

/** As in "Smith et al. 2024": what exports call a source. */
export function authorYear(metadata) {
  const { authors = [], date = "", is_file_date } = metadata || {};
  const families = authors.map((name) => name.split(", ")[0]);
  const names = families.length < 3 ? families.join(" and ") : `${families[0]} et al.`;
  return `${names} ${is_file_date ? "" : date.slice(0, 4)}`.trim();
}

/** An ISO date, perhaps only a year or a month: "2019", "March 2026", "4 March 2026". */
function dayOf(date) {
  const [year, month, day] = date.split("-");
  return [day && Number(day), month && MONTHS[month - 1], year].filter(Boolean).join(" ");
}

/** How long ago a date is, as exactly as it is stated; "" for a date to come. */
function ageOf(date, today) {
  const [year, month, day] = date.split("-").map(Number);
  const years = today.getFullYear() - year;
  if (!month) return years > 0 ? `${counted(years, "year")} old` : years === 0 ? "this year" : "";
  const months = 12 * years + today.getMonth() + 1 - month - (today.getDate() < day ? 1 : 0);
  if (months < 0) return "";
  if (months > 0) return months < 24 ? `${counted(months, "month")} old` : `${Math.floor(months / 12)} years old`;
  const days = (Date.UTC(today.getFullYear(), today.getMonth(), today.getDate()) - Date.parse(date)) / DAY;
  return !day ? "this month" : days > 0 ? `${counted(days, "day")} old` : "today";
}

function languageOf(code) {
  try {
    return new Intl.DisplayNames("en", { type: "language" }).of(code);
  } catch {
    return code; // a document may state anything
  }
}

function listOf(names, mark) {
  const more = names.length > MOST ? ` and ${names.length - MOST} more` : "";
  return names.slice(0, MOST).join(mark) + more;
}
