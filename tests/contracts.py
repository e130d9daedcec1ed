"""Contract-like documents of six kinds with known facts: for the tests of tables, and for a try by hand.

Invented, and easier than real contracts: every fact stands in one sentence. `python tests/contracts.py FOLDER [N]`
writes N of them (default: 40) with `questions.txt`; `python tests/contracts.py FOLDER TABLE.json` compares a table.
"""

from __future__ import annotations

import html
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import docx
from kinds_parts import xlsx
from pdf_writer import lines, pdf

QUESTIONS = {
    "supplier": "Who is the supplier?",
    "start": "On what date does the agreement start?",
    "term": "How long is the initial term?",
    "notice": "What notice period is needed to terminate the agreement?",
    "fee": "What is the annual fee?",
    "payment": "Within how many days must an invoice be paid?",
    "interest": "What interest is charged on late payments?",
    "cap": "What is the limit of the supplier's liability?",
    "law": "Which law governs the agreement?",
    "officer": "Who is the data protection officer?",
}
MAY_LACK = ("interest", "cap", "officer", "notice")
SUPPLIERS = "Alder Foundry,Birch Logistics,Cedar Software,Dune Telecom,Elm Cleaning,Fjord Power,Garnet Print,Heron Labs"
CUSTOMERS = "Marsh County Council,Novak Retail,Orchard Schools,Pine Hospital,Quill Publishing,Ridge Rail"
LAWS = ("England and Wales", "Scotland", "Ireland", "New Zealand", "the State of Delaware", "Ontario")
OFFICERS = ("Mara Lindqvist", "Tomas Okafor", "Ines Baptista", "Wen Zhao", "Priya Raman")
MONTHS = ("January", "March", "April", "June", "September", "November")
NUMBERS = {12: "twelve", 18: "eighteen", 24: "twenty-four", 36: "thirty-six", 60: "sixty"}

WORDINGS: dict[str, tuple[str, ...]] = {
    "supplier": (
        "This agreement is made between {supplier} Ltd (the “Supplier”) and {customer} (the “Customer”).",
        "The parties are {customer}, referred to as the Customer, and {supplier} Ltd, referred to as the Supplier.",
        "{supplier} Ltd, the supplier, will provide the services described below to {customer}, the customer.",
    ),
    "start": (
        "This agreement starts on {start}.",
        "The agreement takes effect on {start} (the “Effective Date”).",
        "The services begin on {start}, the commencement date of this agreement.",
    ),
    "term": (
        "The initial term is {term} months.",
        "The agreement runs for an initial period of {words} ({term}) months and is then renewed every year.",
        "Unless it is ended earlier, the agreement continues for {term} months from its start.",
    ),
    "notice": (
        "Either party may terminate this agreement by giving {notice} days’ written notice.",
        "The agreement may be ended by either party at any time on not less than {notice} days’ notice in writing.",
        "A party that wishes to end the agreement must tell the other at least {notice} days in advance.",
    ),
    "fee": (
        "The annual fee is {fee} euros, excluding value added tax.",
        "The Customer pays the Supplier a fee of EUR {fee} for each year of the agreement.",
        "For the services the Customer pays {fee} euros a year.",
    ),
    "payment": (
        "Invoices are payable within {payment} days of receipt.",
        "The Customer pays each invoice no later than {payment} days after its date.",
        "Each undisputed invoice must be paid within {payment} days.",
    ),
    "interest": (
        "Late payments bear interest at {interest} percent a year.",
        "If the Customer pays late, the Supplier may charge interest of {interest} percent per annum.",
    ),
    "cap": (
        "The Supplier’s total liability under this agreement is limited to {cap} euros.",
        "In no event does the liability of the Supplier exceed EUR {cap} in a contract year.",
        "The liability of the Supplier is capped at {cap} euros.",
    ),
    "law": (
        "This agreement is governed by the laws of {law}.",
        "The laws of {law} apply to this agreement, and its courts have exclusive jurisdiction.",
    ),
    "officer": (
        "The Supplier’s data protection officer is {officer}.",
        "Questions about personal data are answered by {officer}, the data protection officer of the Supplier.",
    ),
}
HEADINGS = {
    "Parties": ("supplier",),
    "Commencement and term": ("start", "term"),
    "Termination": ("notice",),
    "Fees and payment": ("fee", "payment", "interest"),
    "Liability": ("cap",),
    "Data protection": ("officer",),
    "Governing law": ("law",),
}
# The same in every contract, some with other numbers of days, years and euros.
COMMON = {
    "Parties": "Each party confirms that it has the power to enter into this agreement and to perform it.",
    "Commencement and term": "Work that was ordered before the agreement ends is completed under its terms.",
    "Termination": "If a party breaks a material obligation and does not remedy the breach within 14 days of a request,"
    " the other may end the agreement at once. On termination each party returns the other’s property.",
    "Fees and payment": "Travel is charged at cost, up to 250 euros a day. The fees may be raised once a year by no"
    " more than the rise of the consumer price index. Value added tax is shown separately on every invoice.",
    "Liability": "Nothing in this agreement limits liability for death or personal injury caused by negligence. Each"
    " party insures itself with a reputable insurer for at least 1 million euros.",
    "Data protection": "Personal data are processed only on documented instructions. A breach of security is reported"
    " within 72 hours. Data are deleted 90 days after the end of the agreement.",
    "Confidentiality": "Each party keeps the other’s confidential information secret for five years after the end of"
    " the agreement. This does not apply to information that is public or that a court orders to be disclosed.",
    "Force majeure": "Neither party is liable for a failure that is caused by events outside its reasonable control,"
    " such as flood, war or the failure of a public network. If such an event lasts for more than 60 days, the parties"
    " meet and agree how to go on.",
    "Notices": "Notices are sent by registered post to the address of the other party and count as received two days"
    " after posting.",
    "Governing law": "If a court finds a clause invalid, the other clauses remain in force.",
}


class Contract(NamedTuple):
    """`facts` are the words that answer each question; a fact that the contract lacks is missing."""

    title: str
    facts: dict[str, str]
    sections: dict[str, str]


def contract(n: int) -> Contract:
    draw = random.Random(n)
    term, fee = draw.choice(list(NUMBERS)), draw.randrange(12, 240) * 1_000
    facts = {
        "supplier": draw.choice(SUPPLIERS.split(",")),
        "start": f"{draw.randrange(1, 29)} {draw.choice(MONTHS)} {draw.randrange(2019, 2027)}",
        "term": str(term),
        "notice": str(draw.choice((30, 45, 60, 90, 180))),
        "fee": f"{fee:,}",
        "payment": str(draw.choice((7, 15, 21, 28, 40))),
        "interest": str(draw.choice((3, 4, 5, 8))),
        "cap": f"{2 * fee + 500:,}",
        "law": draw.choice(LAWS),
        "officer": draw.choice(OFFICERS),
    }
    for lacking in draw.sample(MAY_LACK, draw.randrange(0, 3)):
        del facts[lacking]
    values = {**facts, "customer": draw.choice(CUSTOMERS.split(",")), "words": NUMBERS[term]}
    sections = {}
    for heading, common in COMMON.items():
        own = [draw.choice(WORDINGS[name]).format(**values) for name in HEADINGS.get(heading, ()) if name in facts]
        sections[heading] = " ".join([*own, common])
    return Contract("Service agreement", facts, sections)


def _markdown(made: Contract) -> bytes:
    parts = (f"## {heading}\n\n{text}\n" for heading, text in made.sections.items())
    return "\n".join([f"# {made.title}\n", *parts]).encode()


def _text(made: Contract) -> bytes:
    return "\n\n".join(made.sections.values()).encode()


def _html(made: Contract) -> bytes:
    parts = (f"<h2>{html.escape(head)}</h2><p>{html.escape(text)}</p>" for head, text in made.sections.items())
    return f"<html><head><title>{made.title}</title></head><body>{''.join(parts)}</body></html>".encode()


def _pdf(made: Contract) -> bytes:
    parts = [(heading, *_wrapped(text)) for heading, text in made.sections.items()]
    halves = parts[:4], parts[4:]
    return pdf([lines(*(line for part in half for line in (*part, ""))) for half in halves], title=made.title)


def _wrapped(text: str, width: int = 80) -> list[str]:
    rows = [""]
    for word in text.split():
        rows = [*rows[:-1], f"{rows[-1]} {word}".strip()] if len(rows[-1]) + len(word) < width else [*rows, word]
    return rows


def _sheet(made: Contract) -> bytes:
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
    rows = [("Clause", "Text"), *made.sections.items()]
    return xlsx({"Terms": "".join(f"<row>{''.join(cell.format(html.escape(t)) for t in row)}</row>" for row in rows)})


def _word(made: Contract, path: Path) -> None:
    document = docx.Document()
    document.add_heading(made.title, 0)
    for heading, text in made.sections.items():
        document.add_heading(heading, 1)
        document.add_paragraph(text)
    document.save(str(path))


WRITERS: dict[str, Callable[[Contract], bytes]] = {
    "md": _markdown,
    "txt": _text,
    "html": _html,
    "pdf": _pdf,
    "xlsx": _sheet,
}


def write(folder: Path, count: int) -> dict[str, Contract]:
    """Writes that many contracts of the kinds in turn; returns them by their file names."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds, made = ("md", "docx", "pdf", "html", "txt", "xlsx"), {}
    for n in range(count):
        path = folder / f"contract-{n:02}.{kinds[n % len(kinds)]}"
        made[path.name] = contract(n)
        write_as(path, made[path.name])
    return made


def write_as(path: Path, made: Contract) -> None:
    """In the kind of the file's ending."""
    if path.suffix == ".docx":
        _word(made, path)
    else:
        path.write_bytes(WRITERS[path.suffix[1:]](made))


def compare(table: Path) -> None:
    """Prints each cell of the table, marked = if it has the fact's words or is blank where there is none, else !.

    Then how many are right, in all and by question.
    """
    marks: dict[str, list[bool]] = {name: [] for name in QUESTIONS}
    for row in json.loads(table.read_text("utf-8")):
        facts = contract(int(Path(row["document"]).stem.split("-")[1])).facts
        for name, answer in zip(QUESTIONS, row["answers"], strict=True):
            text = answer["claims"][0]["text"] if answer["claims"] else ""
            label = answer["claims"][0]["support"]["label"] if text else answer["status"]
            is_right = facts[name] in text if name in facts else not text
            marks[name].append(is_right)
            print("=" if is_right else "!", row["document"], name, facts.get(name), "|", text, label)
    every = [is_right for column in marks.values() for is_right in column]
    print(f"{sum(every)} of {len(every)} cells have the words of the fact, or none where there is no fact")
    print(", ".join(f"{name} {sum(column)}" for name, column in marks.items()))


if __name__ == "__main__":
    if sys.argv[-1].endswith(".json"):
        compare(Path(sys.argv[-1]))
    else:
        write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40)
        (Path(sys.argv[1]).parent / "questions.txt").write_text("\n".join(QUESTIONS.values()) + "\n", "utf-8")
