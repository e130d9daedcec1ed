"""What the network with many heads learns from: verdicts on claims, and answers of blocks and their spans.

People's sets come first; beside them, where they exist, the claims and questions written for this project
(`training/data/`). A lesson is read only if its source may be learnt from (`sources.toml`), its page is not kept for
probes, and no dev record of any set has its page or its claim. The data lie in TOULMIN_DATA (default ../shared/data).
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from itertools import count as count_up
from pathlib import Path
from typing import Any

import questions
from claims import natural
from claims.mixture import SHARES, quotas
from claims.pair import Pair as LabelledPair
from claims.pair import page_key
from claims.sources import question_pages, rows, terms_of
from heads import ANSWERS

from toulmin.data import Passage
from toulmin.evaluation.feedback import read_feedback
from toulmin.judges.trained import OUTCOMES
from toulmin.steps import Pair

OURS = Path(__file__).parent / "data"
NATURAL_DEV = (
    "attr_attributionbench_dev",
    "attr_begin_dev",
    "attr_factscore",
    "attr_q2_wow",
    "attr_scifact_train",
    "attr_wice_dev",
    "attr_fm2_dev",
    "attr_summedits_eval",
)
BLOCKS = (
    "qa_faq_docs",
    "qa_howto_sections",
    "qa_qasper",
    "qa_qnli",
    "qa_selqa",
    "qa_medquad",
    "qa_covidqa",
    "qa_evidence_inference",
    "qa_fairytaleqa",
    "qa_quoref",
    "qa_squad1_subset",
    "qa_squadshifts_wiki",
    "qa_tatqa_text",
    "qa_cookdial",
)
ITEMS = questions.SOURCES[:3]  # one passage each, which answers or does not
MOST_BLOCKS = 4  # of one question
REPEATED = {"attr_contractnli"}  # its few claims are made of every contract, those of dev too


@dataclass(frozen=True, slots=True)
class Lesson:
    """A claim or question before its passages, and what is known of them; -1 and None are unknown.

    `verdict` and `block` are places in `OUTCOMES` and `ANSWERS`; a vague verdict may be contradicted too. `wrong` are
    characters of the claim, `spans` of the only passage; no span is an answer that is not there.
    """

    id: str
    source: str
    family: str
    page: str
    split: str
    pair: Pair
    verdict: int = -1
    vague: bool = False
    wrong: tuple[tuple[int, int], ...] | None = None
    block: int = -1
    spans: tuple[tuple[int, int], ...] | None = None

    @property
    def asked(self) -> tuple[str, str] | None:
        """What the blocks of one question share; claims have nothing."""
        return (self.source, self.pair.claim) if self.block >= 0 else None


# ---------------------------------------------------------------- verdicts


def verdicts(pairs: Iterable[LabelledPair], name: str) -> list[Lesson]:
    """The pairs of a set; where none is called contradicted, "not supported" leaves it open."""
    pairs = list(pairs)
    telling = any(pair.label == "contradicted" for pair in pairs)
    return [
        Lesson(
            pair.id,
            name,
            pair.family,
            pair.page,
            pair.split,
            Pair(tuple(Passage.of(text.text, text.title or "") for text in pair.premise), pair.claim, pair.question),
            OUTCOMES.index(pair.label),
            pair.label == "unsupported" and not telling,
            pair.wrong or (() if pair.label == "supported" else None),
        )
        for pair in pairs
    ]


def claims_of_people(data: Path, most: int | None = None) -> Iterator[Lesson]:
    """The claims of all sets that may be learnt from."""
    terms = terms_of()
    for name, read in [(name, natural.records) for name in natural.SETS] + [
        (name, natural.inferences) for name in natural.INFERENCE
    ]:
        if terms[name].ship:
            yield from verdicts(islice(read(data, name, terms[name]), most), name)


def claims_of_readers(files: Sequence[Path]) -> Iterator[Lesson]:
    """What readers said of sentences; a wrong source leaves open whether the sentence is true, so it is unsupported."""
    for word in (word for file in files for word in read_feedback(file)):
        premises = tuple(Passage.of(each["text"], each.get("title") or "") for each in word.passages)
        if premises:
            id, page = f"feedback-{word.answer}-{word.claim}", page_key(premises[0].title or word.answer)
            verdict = 0 if word.says == "right" else 1
            pair = Pair(premises, word.text, None)
            yield Lesson(id, "feedback", "natural", page, "train", pair, verdict, vague=bool(verdict))


def natural_dev(data: Path, most: int, seed: int = 0) -> list[Lesson]:
    """At most that many dev claims of each natural set."""
    terms, lessons = terms_of(), []
    for name in NATURAL_DEV:
        chosen = [each for each in verdicts(natural.records(data, name, terms[name]), name) if each.split == "dev"]
        random.Random(f"{seed} {name}").shuffle(chosen)
        lessons += chosen[:most]
    return lessons


def claims_by_hand(folder: Path = OURS) -> list[Lesson]:
    """The claims written for this project; none where there is no file."""
    return [
        Lesson(
            row["id"],
            f"claims/{row['source']}",
            "written",
            page_key(row["page"]),
            row["split"],
            Pair((Passage.of(row["passage"]),), row["claim"], None),
            0 if row["supported"] else 1,
            not row["supported"],
            () if row["supported"] else None,
        )
        for row in _rows_by_hand(folder, "claims")
        if row.get("agreed", True)
    ]


def claims_over_groups(folder: Path = OURS) -> list[Lesson]:
    """The claims written for this project over a few passages alike; none where there is no file.

    Each stands once over all passages and, where there are several, once over one that decides it and once over those
    that do not. Of a train group some stand together, too.
    """
    groups = list(_rows_by_hand(folder, "groups"))
    views = [lesson for group in groups for n in range(len(group["claims"])) for lesson in _views(group, n)]
    return views + [lesson for group in groups if group["split"] == "train" for lesson in _together(group)]


def _together(group: dict[str, Any]) -> Iterator[Lesson]:
    """Two to four claims as one of so many sentences: true ones alone, then true ones with a false one among them.

    What people judge are often whole summaries, which a network forgets that reads single sentences only.
    """
    dice = random.Random(f"{group['id']} together")
    true = [claim for claim in group["claims"] if claim["verdict"] == "supported"]
    false = [claim for claim in group["claims"] if claim["verdict"] != "supported" and claim["sure"]]
    for odd in [None, *dice.sample(false, min(len(false), 1))]:
        said = dice.sample(true, min(len(true), dice.randint(1, 3) + (odd is None)))
        at = dice.randint(0, len(said))
        texts = [claim["claim"] for claim in (*said[:at], *([odd] if odd else ()), *said[at:])]
        if len(texts) < 2:
            continue
        start = sum(len(text) + 1 for text in texts[:at])
        yield Lesson(
            f"{group['id']}-together-{'false' if odd else 'true'}",
            f"groups/{group['source']}",
            "grouped",
            group["id"],
            group["split"],
            Pair(tuple(Passage.of(**passage) for passage in group["passages"]), " ".join(texts), None),
            OUTCOMES.index(odd["verdict"] if odd else "supported"),
            wrong=((start, start + len(odd["claim"])),) if odd else (),
        )


def _views(group: dict[str, Any], n: int) -> Iterator[Lesson]:
    claim, dice = group["claims"][n], random.Random(f"{group['id']} {n}")
    everything = range(len(group["passages"]))
    beside = [k for k in everything if k not in claim["touching"]]
    alone = claim["deciding"] or (beside if not claim["touching"] else [])
    views = {"all": dice.sample(everything, len(everything))}
    if len(everything) > 1:
        views["alone"] = dice.sample(alone, min(len(alone), 1))
    if len(everything) > 1 and claim["touching"]:
        views["others"] = dice.sample(beside, len(beside))
    for name, places in views.items():
        said = claim["verdict"] if name != "others" else "unsupported"
        if places:
            yield Lesson(
                f"{group['id']}-{n}-{name}",
                f"groups/{group['source']}",
                "grouped",
                group["id"],
                group["split"],
                Pair(tuple(Passage.of(**group["passages"][k]) for k in places), claim["claim"], None),
                OUTCOMES.index(said),
                said == "unsupported" and (claim["verdict"] == "contradicted" or not claim["sure"]),
                () if said == "supported" else None,
            )


def _rows_by_hand(folder: Path, kind: str) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob(f"{kind}-*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


# ---------------------------------------------------------------- blocks and spans


def questions_of_people(data: Path, most: int | None = None) -> Iterator[Lesson]:
    """The questions of all sets, each with some of its passages."""
    terms = terms_of()
    for name in BLOCKS:
        if terms[name].ship:
            for row in islice(rows(data, name), most):
                yield from _blocks(row, name)
    for name in ITEMS:
        if terms[name].ship:
            for split in ("train", "dev"):
                items = list(islice(questions.of_source(data, name, split), most))
                items += questions.strange([item for item in items if item.places])
                for n, item in enumerate(items):
                    yield _item(f"{name}-{split}-{n}", name, item, split)
    if terms["qa_clapnq"].ship:
        yield from (_clapnq(row) for row in islice(rows(data, "qa_clapnq"), most))


def _blocks(row: dict[str, Any], name: str) -> Iterator[Lesson]:
    """The passages that answer, then those of the record that do not, as many as are learnt from."""
    if row["answerable"] is None:
        return
    gold = set(row["meta"].get("gold_passages") or [n for n, *_ in row["answer_sentences"] or ()])
    gold = gold if row["answerable"] else set()
    known = row["spans"] is not None or not row["answerable"]
    passages = list(enumerate(row["passages"]))
    random.Random(row["id"]).shuffle(passages)
    passages.sort(key=lambda numbered: numbered[0] not in gold)
    for n, passage in passages[: MOST_BLOCKS if len(passages) > 1 else 1]:
        spans = tuple((start, end) for at, start, end, *_ in row["spans"] or () if at == n)
        is_known = (known and bool(spans)) or n not in gold
        yield Lesson(
            f"{row['id']}-{n}",
            name,
            "block",
            page_key(passage["title"] or passage["text"][:100]),
            row["split"],
            Pair((Passage.of(passage["text"], passage["title"] or ""),), row["question"], None),
            block=ANSWERS.index("yes" if n in gold else "no"),
            spans=spans if is_known else None,
        )


def _item(id: str, name: str, item: questions.Item, split: str) -> Lesson:
    answer = ANSWERS.index("yes" if item.places else "no")
    page = page_key(item.passage.title or item.passage.text[:100])
    pair = Pair((item.passage,), item.question, None)
    return Lesson(id, name, "block", page, split, pair, block=answer, spans=item.places)


def _clapnq(row: dict[str, Any]) -> Lesson:
    passage = row["passages"][0]
    answer, page = ANSWERS.index("yes" if row["answerable"] else "no"), page_key(passage["title"])
    pair = Pair((Passage.of(passage["text"], passage["title"]),), row["question"], None)
    spans = None if row["answerable"] else ()
    return Lesson(row["id"], "qa_clapnq", "block", page, row["split"], pair, block=answer, spans=spans)


def questions_by_hand(folder: Path = OURS) -> list[Lesson]:
    """The blocks of the questions written for this project; none where there is no file."""
    return [
        lesson
        for row in _rows_by_hand(folder, "questions")
        for blocks in [
            [(Passage.of(block["text"], block.get("title", "")), block["answers"]) for block in row["blocks"]]
        ]
        for lesson in _asked(row, row["id"], "asked", page_key(row["page"]), row["question"], blocks)
    ]


def questions_over_groups(folder: Path = OURS) -> list[Lesson]:
    """The passages of the groups that questions were written over, each as a block; none where there is no file."""
    return [
        lesson
        for group in _rows_by_hand(folder, "groups")
        for n, row in enumerate(group["questions"])
        for blocks in [zip((Passage.of(**each) for each in group["passages"]), row["answers"], strict=True)]
        for lesson in _asked(group, f"{group['id']}-q{n}", "grouped", group["id"], row["question"], blocks)
    ]


def _asked(
    row: dict[str, Any], id: str, family: str, page: str, question: str, blocks: Iterable[tuple[Passage, str]]
) -> Iterator[Lesson]:
    for n, (passage, answers) in enumerate(blocks):
        source, pair = f"questions/{row['source']}", Pair((passage,), question, None)
        yield Lesson(f"{id}-{n}", source, family, page, row["split"], pair, block=ANSWERS.index(answers))


# ---------------------------------------------------------------- what is learnt


def default_data() -> Path:
    return Path(os.environ.get("TOULMIN_DATA", "../shared/data"))


def learnable(data: Path, ours: Path = OURS, most: int | None = None, feedback: Sequence[Path] = ()) -> list[Lesson]:
    """Every lesson that may be learnt from, `most` records of a set at most; whoever names feedback may use it."""
    terms = terms_of()
    every = [*claims_of_people(data, most), *questions_of_people(data, most), *claims_of_readers(feedback)]
    every += [*claims_by_hand(ours), *claims_over_groups(ours)]
    every += [*questions_by_hand(ours), *questions_over_groups(ours)]
    measured = [natural.records(data, name, terms[name]) for name in natural.SETS if not terms[name].ship]
    measured += [natural.inferences(data, name, terms[name]) for name in natural.INFERENCE if not terms[name].ship]
    apart = [pair for pairs in measured for pair in pairs if pair.split == "dev"]
    others = [lesson for lesson in every if lesson.split != "train"]
    pages = question_pages(data) | {lesson.page for lesson in others} | {pair.page for pair in apart}
    texts = {page_key(lesson.pair.claim) for lesson in others if lesson.source not in REPEATED}
    texts |= {page_key(pair.claim) for pair in apart}
    return [
        lesson
        for lesson in every
        if lesson.split == "train" and lesson.page not in pages and page_key(lesson.pair.claim) not in texts
        if not any(questions.is_kept(passage.title, passage.text) for passage in lesson.pair.premises)
    ]


def mixture(lessons: Sequence[Lesson], count: int, seed: int, shares: Mapping[str, float] = SHARES) -> list[int]:
    """The places of about `count` lessons as they are learnt: each source its quota, whole rounds of it first.

    The blocks of a question stand together.
    """
    together: dict[tuple[str, str], dict[object, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, lesson in enumerate(lessons):
        together[lesson.family, lesson.source][lesson.asked or place].append(place)
    drawn: list[list[int]] = []
    sizes = Counter((lesson.family, lesson.source) for lesson in lessons)
    for (family, source), quota in quotas(sizes, count, shares).items():
        units, chance = list(together[family, source].values()), random.Random(f"{seed} {source}")
        rounds = chain.from_iterable(chance.sample(units, len(units)) for _ in count_up())
        while quota > 0:
            drawn.append(next(rounds))
            quota -= len(drawn[-1])
    random.Random(f"{seed} order").shuffle(drawn)
    return [place for unit in drawn for place in unit]
