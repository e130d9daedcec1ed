"""What metrics and judges mean"""

from __future__ import annotations

import re

METRICS = {
    "length": "Mean number of words of an answer.",
    "str_em": "Share of the gold short answers that stand in the answer, word for word; mean over questions.",
    "str_hit": "Share of questions whose gold short answers all stand in the answer.",
    "rougeLsum": "Overlap with the reference answer by longest common subsequences (F-measure).",
    "QA-EM": "Share of the sub-questions that a reading model answers exactly right from the answer alone.",
    "QA-F1": "Overlap of a reading model's answers, read from the answer alone, with the gold ones.",
    "QA-Hit": "Share of questions whose sub-questions a reading model all answers exactly right.",
    "mauve": "How alike the distributions of answers and references are. Unstable: never compare across sizes.",
    "citation_rec": "Share of the statements that their cited passages, taken together, support.",
    "citation_prec": "Share of the citations that their statement needs, or that support it by themselves.",
    "citation_f1": "Harmonic mean of citation recall and citation precision of the run.",
    "claims_nli": "Share of the gold claims that the answer entails.",
    "num_preds": "Mean number of listed entities.",
    "qampari_prec": "Share of the listed entities that are right.",
    "qampari_rec": "Share of the right entities that are listed.",
    "qampari_rec_top5": "As recall, where five right entities are enough.",
    "qampari_f1": "Harmonic mean of precision and recall of a list; mean over questions.",
    "qampari_f1_top5": "Harmonic mean of precision and recall-5 of a list; mean over questions.",
    "unanswerable_abstained": "Of the questions that the sources do not answer, the share of which the answer says so.",
    "answerable_answered": "Of the questions that the sources answer, the share that was answered.",
    "ais_strict": "Share of the answers in which every sentence is entailed by a single passage.",
    "ais_macro": "Share of the sentences that a single passage entails; mean over answers.",
    "ais_micro": "Share of the sentences of all answers that a single passage entails.",
    "rouge1_precision": "Share of the answer's words that its evidence holds.",
    "rouge2_precision": "Share of the answer's neighbouring words that stand so in its evidence.",
    "rougeLsum_precision": "Share of the answer's words that stand in its evidence in the same order, by sentences.",
    "distinct_1": "Share of an answer's words that are different ones.",
    "distinct_2": "Share of an answer's pairs of neighbouring words that are different ones.",
    "distinct_3": "Share of an answer's runs of three words that are different ones.",
    "em": "Share of the answers that are a gold answer, once both are normalised.",
    "token_f1": "Overlap of the answer's words with the best gold answer's (SQuAD's F1).",
    "token_precision": "Share of the answer's words that stand in the best gold answer.",
    "token_recall": "Share of the best gold answer's words that stand in the answer.",
    "dr": "Geometric mean of QA-F1 and ROUGE-L, as in the ASQA paper.",
    "dr_mean": "Arithmetic mean of QA-F1 and ROUGE-L, as in VTG's tables.",
    "answered": "Share of the questions that were answered.",
    "abstained": "Share of the questions of which the answer says that the sources do not tell.",
    "failed": "Share of the questions that got no answer because something went wrong.",
}

_JUDGES = {
    "lexical": "It compares words, names and numbers: a paraphrase may look unsupported to it, and a sentence of the"
    " same words in another sense supported.",
    "embedded": "A small shipped model: reliable where wording is near, weaker on reasoning over several passages.",
    "seq2seq": "An entailment model: it knows no uncertainty beside yes and no, reads a limited length, and errs on"
    " numbers and on statements that need several passages.",
    "cross": "A cross-encoder: it reads a limited length, and errs on numbers and on what needs several passages.",
    "model": "A language model was asked: its verdicts may change with its version and lean towards fluent text.",
}


def of_metric(name: str) -> str | None:
    """None for an unknown metric."""
    return METRICS.get(name)


def limits(judge: str | None) -> str:
    """By the first word of a judge's name ("lexical-1")."""
    if judge is None:
        return "No judge was asked: these metrics compare texts and say nothing of support."
    kind = re.split(r"[^a-z0-9]", judge.lower())[0]
    return _JUDGES.get(
        kind, "A judge is itself wrong at times: open the sentences before you believe a small difference."
    )
