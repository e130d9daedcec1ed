"""Each measured figure of README and the pages is one of the results, or of another source that is named here.

A figure that changes on a page is found no longer, and one that is new has no source until it is listed.
"""

from __future__ import annotations

import re
from pathlib import Path

from row_tables import table

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
NO_PROSE = re.compile(r"^```.*?^```$|\]\([^)]*\)|`[^`\n]*`|<!--.*?-->|<[^>]*>|^#[^\n]*$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)*(?!\w)")
UNIT = r"(?:seconds?|minutes?|hours?|s|ms|MB|GB|kB|percent)\b|%"
COUNT = r"\d+(?:,\d{3})*"
FIGURE = re.compile(
    rf"(?<![\w.,/–-])(?:{COUNT} of (?:a )?{COUNT}|\d+(?:\.\d+)+"
    rf"|{COUNT}(?= ?(?:(?:and|or|to) [\d.,]+ )?(?:{UNIT})))(?!\w)"
)

RESULTS = "benchmarks/RESULTS.md"
# The page, what it says, the file that has it, and what that says (parts by …), in which all its numbers are.
MEASURED = [
    ("README.md", "Python 3.11 or later", "pyproject.toml", 'requires-python = ">=3.11"'),
    ("docs/install.md", "Python 3.11 or later", "pyproject.toml", 'requires-python = ">=3.11"'),
    ("docs/install.md", "reader and encoder (160 MB)", "weights/README.md", "They have 160 MB together"),
    ("README.md", "its trained parts (160 MB:", "weights/README.md", "They have 160 MB together."),
    ("docs/commands.md", "376 of 400 cells are right", RESULTS, "376 of 400 cells have the words of the fact"),
    ("README.md", "balanced accuracy 0.94 for numbers", RESULTS, "numbers 0.94, dates"),
    ("README.md", "0.93 for dates", RESULTS, "dates 0.93, names"),
    ("README.md", "0.92 for names, 0.96 for added details", RESULTS, "names 0.92, added details 0.96, negation"),
    ("README.md", "0.73 for negation", RESULTS, "negation 0.73, swapped"),
    ("README.md", "swapped roles | often not noticed: 0.58", RESULTS, "swapped roles 0.58 (QA-SRL"),
    ("README.md", "of 200 hand-written claims", RESULTS, "of 200 claims written by hand over manuals"),
    (
        "README.md",
        "59 of 100 true ones and 5 of 100 false ones are marked supported, 18 and 14 likely",
        RESULTS,
        "it calls 59 of 100 true ones supported and 5 of 100 false ones, and likely 18 and 14",
    ),
    (
        "README.md",
        "over a second folder 22 of 60 and 1 of 60, and 20 and 4",
        RESULTS,
        "of 120 over games, stars and words 22 of 60 and 1 of 60, likely 20 and 4",
    ),
    ("README.md", "| 71 of 100 over a folder of manuals", RESULTS, "everything asked for in 71 of 100 answers"),
    ("README.md", "75 over games, stars and words", RESULTS, "over manuals, 75 over a second folder"),
    ("README.md", "silent on 15 of 19 unanswerable questions", RESULTS, "silent on 15 of 19 unanswerable questions"),
    ("README.md", "wrongly on 6 of 100 others", RESULTS, "unanswerable questions, wrongly on 6 of 100"),
    (
        "docs/judges.md",
        "| | 0.560 | 0.820 | 0.715 | 0.500 | 0.655 | 0.829 | 253 |",
        RESULTS,
        "all 200 0.75 0.560 [0.491, 0.631] … all 200 0.820 [0.763, 0.869] … "
        "nli_breaking 200 0.85 0.715 [0.665, 0.767] … "
        "nli_negation_scone 200 0.85 0.500 [0.500, 0.500] … nli_mnli_dev 200 0.76 0.655 [0.585, 0.724] … "
        "factscore 200 0.829 [0.782, 0.880] … "
        "one core lexical-2: 253",
    ),
    (
        "docs/judges.md",
        "| | 0.790 | 0.830 | 0.980 | 0.906 | 0.732 | 0.875 | 24 |",
        RESULTS,
        "all 200 0.75 0.625 [0.560, 0.689] 0.790 [ … all 200 0.870 [0.815, 0.919] 0.830 [ … "
        "nli_breaking 200 0.85 0.897 [0.837, 0.947] 0.980 [ … "
        "nli_negation_scone 200 0.85 0.900 [0.835, 0.944] 0.906 [ … "
        "nli_mnli_dev 200 0.76 0.684 [0.617, 0.755] 0.732 [ "
        '… attr_factscore", "claims": 200, "overlap": 0.8554, "small": 0.8315, "large": 0.8752 … '
        "one core large-3: 24",
    ),
    (
        "docs/judges.md",
        "10 of 528 sentences are called disputed",
        RESULTS,
        "10 of 528 sentences are called disputed",
    ),
    ("docs/judges.md", "led to earlier rules, 2 of 366", RESULTS, "together 2 of 366"),
    (
        "docs/judges.md",
        "supported 86 of 100 true claims over manuals and 44 false ones",
        RESULTS,
        "supported 86 of 100 true claims and 44 of 100 false ones",
    ),
    (
        "docs/judges.md",
        "59 of 100 true ones are supported and 18 likely, of 100 false ones 5 and 14; over a second folder 22 and 20 of"
        " 60 and 1 and 4 of 60",
        RESULTS,
        "by hand over manuals, 100 and 100 | 59 and 18 | 5 and 14 | 0.92 | |"
        " by hand over a second folder, 60 and 60 | 22 and 20 | 1 and 4 |",
    ),
    (
        "docs/keep-true.md",
        "| | 2 | 11 | | | 0 | 3 | | | 10 | 31 | | | 14 | 35 | | | 17 | 15 | | none: called supported | 57 | 5 |",
        RESULTS,
        "large true 2 0 0 10 0 14 17 57 large false 11 0 3 31 0 35 15 5",
    ),
    (
        "docs/methods.md",
        "at 0.3 answers 84 % where the passages hold the answer (66 % rightly) and is silent for 73 % where they do"
        " not; at 0.5 it answers 58 % and is silent for 90 %",
        RESULTS,
        "0.30 84.4 66.1 73.2 78.8 … 0.50 58.0 47.3 90.0 74.0",
    ),
    (
        "docs/methods.md",
        "called 21.1 % of the unsupported ones supported, and 35.2 % once",
        RESULTS,
        "not supported 648 21.1 [15.7, 27.2] 35.2 [",
    ),
    (
        "docs/methods.md",
        "it is 20.4 % after a repair and 19.1 % before",
        RESULTS,
        "not supported 648 19.1 [14.2, 24.5] 20.4 [",
    ),
    ("docs/methods.md", "88.4 % were supported after a repair", RESULTS, "supported 1245 81.1 [77.0, 85.3] 88.4 ["),
    (
        "docs/methods.md",
        "82.0 % are now; repair takes 14.5 % of them away",
        RESULTS,
        "supported 1245 79.8 [75.8, 83.8] 82.0 [78.1, 85.8] 1.8 14.5",
    ),
    ("docs/models.md", "| 53.3 | 59.8 | 1.5 |", RESULTS, "embedded writer 53.3 [ … 59.8 [ … 1.5"),
    ("docs/models.md", "| 56.7 | 61.1 | 16.4 |", RESULTS, "best 56.7 [ … 61.1 [ … 16.4"),
    ("docs/models.md", "| 50.0 | 58.6 | 63.2 |", RESULTS, "vtg 50.0 [ … 58.6 [ … 63.2"),
    ("docs/models.md", "| 43.3 | 43.4 | 139.9 |", RESULTS, "plan 43.3 [ … 43.4 [ … 139.9"),
    ("docs/retrieval.md", "23.5 MB with weights in 8 bits", RESULTS, "encoder: 23.5 MB, 8 bits a weight"),
    (
        "docs/retrieval.md",
        "two steps 0.676 without and 0.931 with it, short ones 0.917 and 0.913, long ones 0.923 both",
        RESULTS,
        "long 0.9227 multihop 0.9755 retrieval-only 0.6757 short 0.9165 … "
        "long 0.9227 multihop 0.9804 retrieval-only 0.9307 short 0.9134",
    ),
    (
        "docs/retrieval.md",
        "have 0.913 on short questions and 0.914 on long ones; with",
        RESULTS,
        "lexical long 0.9142 multihop 0.9804 retrieval-only 0.9356 short 0.9126",
    ),
    ("docs/retrieval.md", "both have 0.979", RESULTS, "rrf, constant 5 long 0.9785 multihop 0.9804"),
    (
        "docs/scale.md",
        "in 63 minutes with 2.8 GB of memory and 22 GB of disk, its text included, and half of the queries took"
        " under 53 ms",
        RESULTS,
        "| **62.9 min: missed** | … under 4 GB | 2.8 GB | … under 25 GB | 22.2 GB | … 150 ms | 53 ms |",
    ),
    (
        "docs/shared.md",
        "some hundred small requests and 3.5 MB a question",
        RESULTS,
        "97 requests and 3.5 MB a question",
    ),
]
# All other figures of the pages, with what they are.
OTHERS = {
    "docs/commands.md": {"120 of 478, 2.2, 0.97": "examples", "1.5, 0.4": "settings", "5.4": "a section of a paper"},
    "docs/comparison.md": {"16, 50": "by its makers"},
    "docs/dependencies.md": {"0.1, 188, 1.4, 10": "tried when the library was chosen (docs/decisions)"},
    "docs/evaluation.md": {"95, 0, 100": "shares by their nature", "3.8": "a version", "6, 15, 1, 30": "tried by hand"},
    "docs/integrations.md": {"0.4, 0.4.2": "versions"},
    "docs/judges.md": {
        "0.4, 0.69, 0.7, 0.5": "levels that are set",
        "0.11, 0.125, 0.15, 0.355, 0.36, 0.44, 0.6, 0.77, 1.4, 1.6, 1.7, 2.0, 3.1, 4.9, 16, 22.9, 25, 45, 112": "sizes",
        "4.7, 64.4, 70.4, 72.7, 73.1, 74.3, 74.7, 75.0, 75.6, 76.1, 76.5, 76.6, 76.8, 77.2, 79.2": "by their makers",
        "3.0, 3.2, 3.3, 4.1, 4.0": "versions",
        "1 of 2, 0 of 3": "classes",
    },
    "docs/keep-true.md": {"2.1.0": "a version", "95 of 100": "an example"},
    "docs/methods.md": {
        "3.1, 5.4, 3.3, 56, 78": "of papers",
        "1.0, 0.5, 0.25, 0.3, 0.2, 0.35, 0.65, 80": "settings, as methods have them",
    },
    "docs/models.md": {
        "10, 0.5, 0.7, 1.5, 60": "settings",
        "34, 93, 375": "sizes of files",
    },
    "docs/observability.md": {"0.1.0": "a version"},
    "docs/operations.md": {
        "0.0.0.0": "an address",
        "4, 0.64, 5": "limits that are set",
        "730": "732 in the results",
        "2.0 of 10, 2.0": "by systemd",
    },
    "docs/release.md": {"1.0, 0.1.0, 1.2.3, 1.2.4, 3.13.5, 4.3.1": "versions"},
    "docs/retrieval.md": {"0.7, 0.3, 0.4, 1.2": "settings", "39": "counted: 388 bytes a passage"},
    "docs/server.md": {"4, 8, 100": "limits that are set"},
    "docs/shared.md": {"0.5, 0.7": "versions", "20": "tried by hand"},
    "docs/troubleshooting.md": {"20, 25, 0.4, 1.2": "limits that are set"},
}


def prose(page: str) -> str:
    return one_line(NO_PROSE.sub(" ", (ROOT / page).read_text("utf-8")))


def one_line(text: str) -> str:
    return " ".join(text.split())


def files_of(source: str) -> list[Path]:
    """A source; that of results with the whole outputs that it links to."""
    return [ROOT / source, *(sorted((ROOT / "benchmarks" / "results").glob("*.txt")) if source == RESULTS else ())]


def is_in(number: str, numbers: list[str]) -> bool:
    """Whether it is one of the numbers, or one with a digit more is rounded to it."""
    decimals = len(number.partition(".")[2])
    longer = [float(n) for n in numbers if len(n.partition(".")[2]) == decimals + 1]
    return number in numbers or any(abs(n - float(number)) <= 0.51 * 10**-decimals for n in longer)


@table(("page", "said", "source", "there"), MEASURED, ids=lambda value: value[:40])
def test_a_measured_figure_is_that_of_its_source(page: str, said: str, source: str, there: str):
    assert said in prose(page)
    text = one_line("\n".join(path.read_text("utf-8") for path in files_of(source)))
    assert [part for part in there.split(" … ") if part not in text] == []
    assert [number for number in NUMBER.findall(said) if not is_in(number, NUMBER.findall(there))] == []


@table("page", PAGES)
def test_every_figure_has_a_source(page: str):
    text = prose(page)
    for said in (said for of, said, _, _ in MEASURED if of == page):
        text = text.replace(said, " ")
    listed = ", ".join(OTHERS.get(page, {})).split(", ")
    assert [figure for figure in FIGURE.findall(text) if figure not in listed] == []


def test_every_number_of_the_readme_has_a_source():
    text = prose("README.md")
    for said in (said for of, said, _, _ in MEASURED if of == "README.md"):
        text = text.replace(said, " ")
    assert [n for n in NUMBER.findall(text) if n != "2.0"] == []  # a licence's version
