"""What a passage is found by, as an index keeps it."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from toulmin.data import Passage
from toulmin.indexing.catalogue import FORMAT
from toulmin.indexing.codes import findable, length, passage_terms, term_code
from toulmin.indexing.lexicon import unpack
from toulmin.text.language import common_terms


def test_terms_come_back_as_they_were_packed():
    title, text = "The lamp of Kyoto", "lamp lamp 灯台 Zyxqv's 1,234.5 — lamp; re-lit zyxqv " + "lamp " * 300
    made = [Passage.of(text, title), Passage.of("!?", ""), Passage.of("lamp")]
    held = unpack([findable(passage).packed for passage in made])
    for place, passage in enumerate(made):
        expected = sorted(map(term_code, passage_terms(passage)))
        assert sorted(held.codes[held.owners == place].tolist()) == expected
        assert length(findable(passage).packed) == len(expected)
        assert findable(passage).terms.split() == passage_terms(passage)


@given(st.text(max_size=60), st.text(max_size=15))
def test_any_text_is_found_by_its_terms(text: str, title: str):
    passage = Passage.of(text, title)
    assert findable(passage).terms.split() == passage_terms(passage)
    assert sorted(unpack([findable(passage).packed]).codes.tolist()) == sorted(map(term_code, passage_terms(passage)))


def test_common_terms_keep_their_places():
    """Their order is part of the form of an index: where it changes, `catalogue.FORMAT` must change too."""
    told = hashlib.sha256("\n".join(common_terms()).encode()).hexdigest()
    assert (FORMAT, told[:16]) == (8, "b1fc1116da4184ba")
