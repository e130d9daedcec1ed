"""Probes of what a judge must never do, and of answers as people and models write them, with 95 % intervals by page.

    python benchmarks/probes_laws.py                        the lexical judge
    python benchmarks/probes_laws.py --judge SPEC ...       others, each as `toulmin --judge` names it
    python benchmarks/probes_laws.py --only names --show    one part, and what was told wrong there

`amounts` are sentences of train evidence with a word of a scale made stronger, or "only" put in, and the way back.
`denials` are denials of what the passage does not mention: of another subject, of a sentence that was taken out of it,
of a slot of the subject on which the page is silent. `names` give a deed whose sentence begins with a pronoun to
somebody in no source, and beside them to the right person in the same forms. `short` and `long` are the answers of
`probes_answers.py`. Pages are those of `held_out.py`; answers are of the dev splits, of train with `--split train`.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import probes_answers as answers
import probes_sentences as near
import probes_wording as wording
from agreement import verdicts
from by_page import auc, measured, share, shown
from headings import heading
from judge_natural import records
from probes_facts import Page, facts, named, subject_of
from probes_made import held_out_pages

import toulmin
from toulmin.build import parts
from toulmin.config import Settings
from toulmin.data import Claim
from toulmin.driver.kit import Judge
from toulmin.steps import Pair, Verdict
from toulmin.text.language import content_terms

SEED = 71
DENIALS, FALSE_NAMES, TRUE_NAMES = 100, 500, 200
WANTED_DENIALS = {"another subject": 0.05, "sentence taken out": 0.05, "slot not told": 0.55}


class Law(NamedTuple):
    """A claim over a page, which may lack its title or a sentence; `kind` names the form of the claim."""

    page: Page
    kind: str
    supported: bool
    claim: str

    @property
    def pair(self) -> Pair:
        """What a judge is asked."""
        return Pair((self.page.passage,), self.claim)


# ---------------------------------------------------------------- denials of what is not mentioned

SLOTS: dict[str, dict[str, tuple[str, ...]]] = {
    "person": {
        "spouse": ("{x} did not marry.", "{x} was never married to {v}."),
        "parent": ("{x} was not a child of {v}.", "{v} did not raise {x}."),
        "birthplace": ("{x} was not born in {v}.", "{x} does not come from {v}."),
        "death date": ("{x} did not die in {v}.",),
    },
    "film": {
        "writer": ("{v} did not write {x}.", "The script of {x} was not by {v}."),
        "composer": ("The music of {x} was not by {v}.", "{v} did not write the music of {x}."),
        "producer": ("{x} was not produced by {v}.", "{v} did not produce {x}."),
        "star": ("{v} does not appear in {x}.", "{x} does not star {v}."),
    },
    "music": {
        "writer": ("{x} was not written by {v}.",),
        "producer": ("{v} did not produce {x}.",),
        "label": ("{x} was not released by {v}.",),
    },
}


def denials(pages: Sequence[Page], wanted: int = DENIALS) -> list[Law]:
    """As many of each kind, of different pages; none may be called supported."""
    makers = (_other_subject, _taken_out, _slot)
    found: list[Law] = []
    for kind, make in zip(WANTED_DENIALS, makers, strict=True):
        chance = random.Random(f"{SEED} {kind}")
        made = (law for law in make(chance.sample(pages, len(pages)), chance))
        found += [Law(page, kind, False, claim) for _, (page, claim) in zip(range(wanted), made, strict=False)]
    return found


def _denied(page: Page, sentence: str, chance: random.Random) -> str | None:
    """A statement that names the page's subject, denied."""
    said = near.reworded(sentence, page) or sentence
    names_it = content_terms(named(page.title)) <= content_terms(said)
    return near.denied(said, chance) if names_it and near.is_plain_statement(said) else None


def _other_subject(pages: Sequence[Page], chance: random.Random) -> Iterator[tuple[Page, str]]:
    """A page's sentence denied, over another page about a thing of the same kind that has no word of its name."""
    by_kind: dict[str, list[Page]] = {}
    for page in pages:
        by_kind.setdefault(subject_of(page).kind, []).append(page)
    for page in pages:
        claims = [claim for one in near.whole(page) if (claim := _denied(page, one, chance))]
        name = content_terms(named(page.title))
        others = (chance.choice(by_kind[subject_of(page).kind]) for _ in range(5))
        other = next((p for p in others if not name & content_terms(f"{p.title} {p.text}")), None)
        if claims and name and other is not None:
            yield other, chance.choice(claims)


def _taken_out(pages: Sequence[Page], chance: random.Random) -> Iterator[tuple[Page, str]]:
    """A page's sentence denied, over the page without it, which has at most a third of its other telling words."""
    for page in pages:
        for sentence in near.whole(page):
            rest = page.text.replace(sentence, "").strip()
            told = content_terms(sentence) - content_terms(page.title)
            kept = told & content_terms(rest)
            claim = _denied(page, sentence, chance) if len(rest.split()) >= 30 and 3 * len(kept) <= len(told) else None
            if claim is not None:
                yield page._replace(text=" ".join(rest.split())), claim
                break


def _slot(pages: Sequence[Page], chance: random.Random) -> Iterator[tuple[Page, str]]:
    """A slot on which the page is silent, denied, with a value of which it has no word."""
    values: dict[str, list[str]] = {}
    for page in pages:
        for fact in facts(page):
            values.setdefault(fact.slot, []).append(fact.value)
    for page in pages:
        subject = subject_of(page)
        silent = [slot for slot in SLOTS.get(subject.kind, ()) if wording.is_silent(slot, page.text)]
        if not silent or not content_terms(subject.name) <= content_terms(page.text):
            continue
        slot = chance.choice(silent)
        value = chance.choice(values[slot])
        if not content_terms(value) & content_terms(f"{page.title} {page.text}"):
            yield page, chance.choice(SLOTS[subject.kind][slot]).format(x=subject.name, v=wording.month(value))


# ---------------------------------------------------------------- names in no source

_OPENS = re.compile(
    r"^(?P<who>He|She) (?P<rest>(?:was|had|[a-z]+ed|won|wrote|became|began|led|made|took|played) .+)\.$"
)
_OWNS = re.compile(r"^(?P<who>His|Her) (?P<rest>(?!own )[a-z]+ .+)\.$")
_LATER = re.compile(
    r"^(?P<before>(?:In|On|After|During|At|From|By) [^,]{3,50}, )(?P<who>he|she) (?P<rest>[a-z]+ .+)\.$"
)
_PERSON = re.compile(r"[A-Z][a-zà-ÿ]+(?: [A-Z]\.)?(?: [A-Z][a-zà-ÿ]{2,}){1,2}")
TITLES = {"false": ("Dr.", "Sir", "Captain", "Professor"), "true": ("Mr.",), "woman": ("Ms.",)}


def names(pages: Sequence[Page], false: int = FALSE_NAMES, true: int = TRUE_NAMES) -> list[Law]:
    """Deeds given to persons of other pages, and to the right ones; the forms come in turn.

    The page is whole, without its first sentence (the person is named only in the title), or without its title. A
    right person is titled Mr. or Ms. only, since another title would say more than the page.
    """
    chance = random.Random(SEED)
    people = [page for page in pages if subject_of(page).kind == "person" and _PERSON.fullmatch(named(page.title))]
    chance.shuffle(people)
    deeds = [deed for page in people for deed in _deeds(page)]
    chance.shuffle(deeds)
    found: list[Law] = []
    for supported, wanted in ((False, false), (True, true)):
        side: dict[str, Law] = {}
        for n, (page, match) in enumerate(deeds * 2):  # the second time in another form, of another stranger
            name = named(page.title) if supported else _stranger(page, people, chance)
            law = _law(page, match, name, supported, n, chance) if name and len(side) < wanted else None
            if law is not None:
                side.setdefault(law.claim, law)
        found += side.values()
    return found


def _deeds(page: Page) -> Iterator[tuple[Page, re.Match[str]]]:
    for sentence in near.whole(page):
        plain = re.sub(r" ?\([^()]*\)", "", sentence)
        match = _OPENS.match(plain) or _OWNS.match(plain) or _LATER.match(plain)
        if match is not None:
            yield page, match


def _stranger(page: Page, people: Sequence[Page], chance: random.Random) -> str | None:
    """The subject of another page, of whose name this page has no word."""
    held = content_terms(f"{page.title} {page.text}")
    drawn = (named(chance.choice(people).title) for _ in range(5))
    return next((name for name in drawn if not content_terms(name) & held), None)


def _law(page: Page, match: re.Match[str], name: str, supported: bool, n: int, chance: random.Random) -> Law | None:
    source = _without_name(page, n) or page
    form = ("plain", "titled", "surname", "titled surname")[n % 4]
    if supported and content_terms(name.split()[-1]) - content_terms(f"{source.title} {source.text}"):
        return None
    shown = name.split()[-1] if "surname" in form else name
    if "titled" in form:
        is_woman = match["who"].lower() in ("she", "her")
        shown = f"{chance.choice(TITLES['false' if not supported else 'woman' if is_woman else 'true'])} {shown}"
    place, claim = _told(match, shown, at_end=n % 8 >= 4)
    return Law(source, f"{form}, {place}", supported, claim)


def _told(match: re.Match[str], shown: str, at_end: bool) -> tuple[str, str]:
    rest = match["rest"]
    if match["who"] in ("His", "Her"):
        return "possessive", f"{shown}'s {rest}."
    if "before" in match.groupdict():
        return "middle", f"{match['before']}{shown} {rest}."
    return ("end", f"The person who {rest} was {shown}.") if at_end else ("beginning", f"{shown} {rest}.")


def _without_name(page: Page, n: int) -> Page | None:
    if n % 3 == 0:
        return page
    if n % 3 == 1:
        return page._replace(title="")
    _, _, rest = page.text.partition(". ")
    return page._replace(text=rest) if len(rest.split()) >= 20 else None


# ---------------------------------------------------------------- how much is said

STRONGER = dict.fromkeys(("some", "several", "many", "most"), "all") | dict.fromkeys(("may", "might", "should"), "must")
STRONGER |= dict.fromkeys(("often", "usually", "sometimes"), "always")
EACH = 15  # sentences of a word
_NO_ONLY = re.compile(r"\b(only|one|first|not|no|just|sole)\b", re.IGNORECASE)


def amounts() -> Iterator[Law]:
    """Train sentences as premises of themselves with another amount; the weaker follows from the stronger alone."""
    given = (
        record for name in ("begin_dev", "fm2_dev", "scifact_train", "q2_wow") for record in records(name, ["train"])
    )
    premises = {(p.title, s) for r in given for p in r.pair.premises[:1] for s in re.split(r"(?<=[.])\s+", p.text)}
    sentences = sorted(pair for pair in premises if 6 <= len(pair[1].split()) <= 30)
    random.Random(SEED).shuffle(sentences)
    left = dict.fromkeys((*STRONGER, "only"), EACH)
    for title, sentence in sentences:
        for kind, weak, strong in _amount_edits(sentence):
            left[kind] -= 1
            if left[kind] >= 0:
                yield Law(Page(sentence, title, weak), f"{kind}, more", False, strong)
                yield Law(Page(sentence, title, strong), f"{kind}, less", True, weak)


def _amount_edits(sentence: str) -> Iterator[tuple[str, str, str]]:
    for weak, strong in STRONGER.items():
        if re.search(rf"\b{weak}\b", sentence) and not re.search(r"\bmost \w+ (?:of|in)\b|\bat most\b", sentence):
            yield weak, sentence, re.sub(rf"\b{weak}\b", strong, sentence, count=1)
    if (verb := re.search(r"\b(is|are|was|were) ", sentence)) and not _NO_ONLY.search(sentence):
        yield "only", sentence, f"{sentence[: verb.end()]}only {sentence[verb.end() :]}"


# ---------------------------------------------------------------- the figures


def report_amounts(judge: Judge, show: bool, split: str) -> None:
    laws = list(amounts())
    given = verdicts(judge, [law.pair for law in laws])
    print(f"{'amounts called supported':38}{'n':>6}{'share':>24}")
    sides = {"more": [not law.supported for law in laws], "less": [law.supported for law in laws]}
    sides |= {kind: [law.kind == kind for law in laws] for kind in sorted({law.kind for law in laws})}
    for name, picks in sides.items():
        some = [(law.page.id, v.entails) for law, v, pick in zip(laws, given, picks, strict=True) if pick]
        print(_line(name, [page for page, _ in some], [hit for _, hit in some]))
    _show(laws, given, show)


def _line(name: str, pages: Sequence[str], hits: Sequence[bool], wanted: str = "") -> str:
    return f"{name:38}{len(hits):6}{shown(measured(list(pages), share(np.array(hits))))}{wanted:>14}"


def report_denials(judge: Judge, show: bool, split: str) -> None:
    laws = denials(held_out_pages())
    given = verdicts(judge, [law.pair for law in laws])
    print(f"{'denials called supported':38}{'n':>6}{'share':>24}{'wanted':>14}")
    for kind, most in WANTED_DENIALS.items():
        some = [(law, v.entails) for law, v in zip(laws, given, strict=True) if law.kind == kind]
        print(_line(kind, [law.page.id for law, _ in some], [hit for _, hit in some], f"at most {most:.2f}"))
    _show(laws, given, show)


def report_names(judge: Judge, show: bool, split: str) -> None:
    laws = names(held_out_pages())
    given = verdicts(judge, [law.pair for law in laws])
    for supported, title in ((False, "name in no source, called supported"), (True, "right person, called supported")):
        side = [(law, v.entails) for law, v in zip(laws, given, strict=True) if law.supported is supported]
        print(f"{title:38}{'n':>6}{'share':>24}{'wanted':>14}")
        print(_line("all", [law.page.id for law, _ in side], [hit for _, hit in side], "" if supported else "0"))
        forms = {part for law, _ in side for part in law.kind.split(", ")}
        for form in sorted(forms):
            some = [(law, hit) for law, hit in side if form in law.kind.split(", ")]
            print(_line(f"  {form}", [law.page.id for law, _ in some], [hit for _, hit in some]))
    _show(laws, given, show)


def _show(laws: Sequence[Law], given: Sequence[Verdict], show: bool) -> None:
    for law, verdict in zip(laws, given, strict=True):
        if show and verdict.entails != law.supported:
            truth = "true " if law.supported else "FALSE"
            print(f"{truth} {law.kind}: {law.claim}\n      [{law.page.title}] {law.page.text[:300]}")
            print(f"      {verdict.reason}")


def report_short(judge: Judge, show: bool, split: str) -> None:
    probes = answers.short_answers(split)
    given = verdicts(judge, [probe.pair for probe in probes])
    support, truth = np.array([v.support for v in given]), np.array([probe.supported for probe in probes])
    pages, place = np.array([probe.page for probe in probes]), np.array([probe.place for probe in probes])
    kind, hits = np.array([probe.kind for probe in probes]), np.array([v.entails for v in given])
    print(f"{'short answers':24}{'n':>6}{'AUC of support':>24}{'wrong supported':>24}{'right supported':>24}")
    wrong = ("same sentence", "other sentence")
    picks = {"all": np.ones(len(truth), bool)} | {w: (place == w) | truth for w in wrong}
    for name, some in (picks | {k: kind == k for k in ("name", "date", "number", "plain")}).items():
        figures = [measured(list(pages[some]), auc(support[some], truth[some]))]
        figures += [measured(list(pages[some & side]), share(hits[some & side])) for side in (~truth, truth)]
        print(f"{name:24}{int((some & ~truth).sum()):6}" + "".join(map(shown, figures)))
    for probe, verdict in zip(probes, given, strict=True):
        if show and verdict.entails != probe.supported:
            print(f"{probe.place} {probe.kind}: {probe.pair.question} | {probe.pair.claim} | {verdict.reason}")


def report_long(judge: Judge, show: bool, split: str) -> None:
    for wordings in answers.WORDINGS:
        print(f"wordings: {wordings}")
        _report_talk(judge, show and wordings != "held out", answers.long_answers(split, wordings))


def _report_talk(judge: Judge, show: bool, found: Sequence[answers.LongAnswer]) -> None:
    columns: dict[str, list[tuple[str, bool]]] = {}
    for answer in found:
        text = " ".join(one.text for one in answer.sentences)
        claims = toulmin.check(text, passages=answer.passages, judge=judge).claims
        for name, hit in _alarms(answer, claims, show):
            columns.setdefault(name, []).append((answer.id, hit))
    print(f"{'answers with talk':38}{'n':>6}{'share':>24}{'wanted':>14}")
    for name, cells in sorted(columns.items()):
        print(_line(name, [id for id, _ in cells], [hit for _, hit in cells]))


def _alarms(answer: answers.LongAnswer, claims: Sequence[Claim], show: bool) -> Iterator[tuple[str, bool]]:
    """What is flagged: not found supported by a judge."""
    judged = [claim for claim in claims if claim.support is not None]
    flagged = [claim.text for claim in judged if not claim.is_supported]
    talk = [one.text for one in answer.sentences if one.is_talk]
    told = [text for text in flagged if not any(text in one or one in text for one in talk)]
    kind = "clean answer" if answer.is_clean else "answer with a marked error"
    yield f"{kind}, flagged", bool(flagged)
    yield f"{kind}, flagged but for talk", bool(told)
    for one in answer.sentences:
        is_judged = any(claim.text in one.text or one.text in claim.text for claim in judged)
        is_flagged = any(text in one.text or one.text in text for text in flagged)
        if show and one.is_talk and is_judged:
            print(f"judged: {one.text}")
        if one.is_talk:
            yield "talk, judged", is_judged
            yield "talk, flagged", is_flagged
        elif one.is_untrue:
            yield "marked sentence, judged", is_judged
            yield "marked sentence, flagged", is_flagged
        elif answer.is_clean:
            yield "clean sentence, flagged", is_flagged
        if show and is_flagged and not one.is_untrue:
            print(f"{'talk' if one.is_talk else kind}: {one.text}")


PARTS: dict[str, Callable[[Judge, bool, str], None]] = {
    "amounts": report_amounts,
    "denials": report_denials,
    "names": report_names,
    "short": report_short,
    "long": report_long,
}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", nargs="+", default=["lexical"], metavar="SPEC")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--split", choices=("train", "dev"), default="dev", help="of short and long answers")
    parser.add_argument("--show", action="store_true", help="what was told wrong")
    asked = parser.parse_args(words)
    print(heading("probes_laws.py", f"Split {asked.split} for answers; held-out pages of pool_corpus for the rest."))
    for spec in asked.judge:
        judge = parts.judge(spec, Settings())
        print(f"\n{judge.name}")
        for part in asked.only:
            PARTS[part](judge, asked.show, asked.split)
            print(flush=True)
    print("```")


if __name__ == "__main__":
    main()
