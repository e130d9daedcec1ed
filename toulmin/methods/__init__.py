"""The answering methods by name; each takes a question and its own options and returns a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toulmin.data import Answer
from toulmin.methods.a2r import a2r
from toulmin.methods.best import best
from toulmin.methods.calm import calm
from toulmin.methods.direct import closed, snippet, summ, vanilla
from toulmin.methods.plan import plan
from toulmin.methods.sampling import rerank, self_refine, usc
from toulmin.methods.selfrag import self_rag
from toulmin.methods.vtg import vtg
from toulmin.steps import Program

Method = Callable[..., Program[Answer]]

METHODS: Mapping[str, Method] = {
    "best": best,
    "closed": closed,
    "vanilla": vanilla,
    "summ": summ,
    "snippet": snippet,
    "rerank": rerank,
    "usc": usc,
    "self-refine": self_refine,
    "calm": calm,
    "vtg": vtg,
    "plan": plan,
    "a2r": a2r,
    "self-rag": self_rag,
}
