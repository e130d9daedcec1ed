"""What `check` says beside its labels: talk without a verdict, citations in words, and what is said elsewhere."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_tables import table

from toulmin.data import Answer, Claim, Passage, Support
from toulmin.driver.drive import Driver, Job
from toulmin.driver.kit import Kit
from toulmin.formats import answer_json
from toulmin.judges.lexical import Lexical
from toulmin.methods.check import check
from toulmin.methods.repair import final_text, repair
from toulmin.parsing.marks import bracket_names, content_of, framed
from toulmin.parsing.replying import is_remark, read_reply
from toulmin.retrieval.bm25 import InMemory

LIT = Passage.of("The tower was lit for the first time on 3 May 1824.", "Kettle Rock")
KEEPERS = Passage.of("Three keepers lived in the tower until 1978. The last keeper was Tom Ashby.", "The keepers")
BUILT = Passage.of("The tower was built by Hannah Pell between 1821 and 1824.", "Hannah Pell")
GIVEN = (LIT, KEEPERS)
POOL = (*GIVEN, BUILT)


def checked(text: str, passages: tuple[Passage, ...] = GIVEN, *, repairs: bool = False) -> Answer:
    kit = Kit(InMemory(POOL), Lexical(), {})
    program = (
        (lambda: repair(text, passages=passages, rewrite=False)) if repairs else lambda: check(text, passages=passages)
    )
    done = asyncio.run(Driver(kit).answer(Job("", "repair" if repairs else "check", "long", program)))
    assert done.error is None
    return done.answer


def verdict(text: str) -> Support:
    (claim,) = checked(text).claims
    assert claim.support is not None
    return claim.support


# ---------------------------------------------------------------- said elsewhere


def test_unsupported_claim_names_the_passage_that_supports_it():
    support = verdict("The last keeper was Tom Ashby [1].")
    assert (support.label, support.elsewhere) == ("unsupported", (KEEPERS.id,))
    assert support.reason == "the cited passage does not say this; “The keepers” does"


def test_a_passage_that_only_the_search_finds_is_read_and_named():
    answer = checked("The tower was built by Hannah Pell [1].")
    assert answer.claims[0].support.elsewhere == (BUILT.id,)
    assert BUILT in answer.passages


def test_what_no_passage_says_is_said_nowhere():
    assert verdict("Wolves ate the bishop of Ghent [1].").elsewhere == ()


def test_what_its_citation_supports_is_not_searched_for():
    answer = checked("The tower was lit on 3 May 1824 [1].")
    assert (answer.claims[0].support.elsewhere, answer.usage.searches) == ((), 0)


def test_a_change_of_the_cited_words_keeps_its_own_reason():
    support = verdict("Three keepers lived in the tower until 1987 [2].")
    assert (support.label, support.reason) == ("contradicted", "the source says 1978, the claim says 1987")


def test_an_answer_with_passages_elsewhere_survives_its_json():
    answer = checked("The last keeper was Tom Ashby [1].")
    assert answer_json.parse(answer_json.dumps(answer)).claims == answer.claims


def test_supported_claims_are_not_said_elsewhere():
    with pytest.raises(ValueError, match="elsewhere"):
        Support("supported", 1.0, "j", ("a",), None, ("b",))


def test_a_passage_elsewhere_was_read():
    claim = Claim("The tower fell.", (), Support("unsupported", 0.0, "j", (), None, ("nowhere",)))
    with pytest.raises(ValueError, match="not read"):
        Answer("Why?", "long", "check", "answered", (claim,))


# ---------------------------------------------------------------- talk

TALK = """Sure!
Let me walk you through what the documents say.
I found relevant information in several of the documents.
This is all the passages say on the matter.
Certainly!
Of course.
Great question!
Thank you for your question.
Okay, here is the answer:
Here is a summary:
Here's a brief summary of the given passages:
Sure, here is a concise answer based on the provided documents:
Below is a short overview of the history of Kettle Rock:
Based on the given passages:
Based on the given passages, here are the main points:
(Based on passages 1 and 2)
Based on the information provided in the passages
According to the provided context:
This answer is based on the given passages.
Please note that this summary is based solely on the provided sources.
I hope this helps!
I hope this answers your question.
Hope this helps!
Let me know if you need anything else.
Please let me know if you have any further questions about the tower.
Feel free to ask if you need more details.
If you have any other questions, feel free to ask.
I'd be happy to help with more information.
The given passages do not mention who painted the tower.
Unfortunately, the provided passages do not contain information about the painter.""".splitlines()


@table(
    ("sentence", "is_talk"),
    [
        ("Unable to answer based on the given passages.", True),
        ("Cannot be determined from the passages.", True),
        ("This question cannot be answered based on the passages.", True),
        ("According to the second passage:", True),
        ("As stated in document 4:", True),
        ("Passages 1 and 3 say the following:", True),
        ("Passage 2 states:", True),
        ("This is based on passage 2.", True),
        ("No answer found.", True),
        ("Unable to answer the call, he left.", False),
        ("The host name cannot be determined.", False),
        ("See the keeper.", False),
    ],
)
def test_a_sentence_that_states_nothing_is_not_counted(sentence: str, is_talk: bool):
    assert is_remark(sentence) == is_talk


@table("talk", TALK)
def test_talk_is_not_judged_and_fails_nothing(talk: str):
    answer = checked(f"{talk}\n\nThree keepers lived in the tower until 1978 [2].")
    assert [claim.fails for claim in answer.claims] == [False] * len(answer.claims)
    assert answer.claims[0].support is None
    assert answer.claims[-1].is_supported


OPENINGS = (
    "Sure, ",
    "Certainly! ",
    "Of course, ",
    "Here is a summary: ",
    "Here are the facts: ",
    "Based on the given passages, ",
    "As far as the passages go, ",
    "From what I can see in the sources, ",
    "To answer your question: ",
    "In passage 1, we read that ",
    "As passage 1 says, ",
    "According to the provided documents, ",
    "According to document 1, ",
    "The first passage says that ",
    "Passage 1 states that ",
    "I hope this helps: ",
    "Overall, the passages suggest that ",
    "Let me know if you need more, but ",
    "This answer is based on the passages: ",
)


@table("opening", OPENINGS)
def test_an_untrue_sentence_that_opens_with_talk_fails(opening: str):
    answer = checked(f"{opening}the tower was lit by Queen Victoria in 1830.")
    assert any(claim.fails for claim in answer.claims)


@table("opening", [each for each in OPENINGS if "hope" not in each and "Let" not in each][:-1])
def test_a_true_sentence_that_opens_with_talk_holds(opening: str):
    answer = checked(f"{opening}the tower was lit for the first time on 3 May 1824.")
    assert any(claim.is_supported for claim in answer.claims)
    assert not any(claim.fails for claim in answer.claims)


@table(
    "claim",
    [
        "The passage of the Longitude Act in 1714 was a surprise.",
        "The second passage through the strait took three weeks.",
        "The source of the Nile was found by Speke.",
        "The first document was signed in 1215.",
        "The answer is 42.",
        "The draft was written by Jefferson.",
        "The summary was burnt.",
        "Certainly the tower fell in 1830.",
        "Here lies the keeper Tom Ashby.",
        "Hope Cove is a village.",
        "No documents were taken.",
        "The sources were burnt here.",
        "We learn from this that the keeper lied.",
        "The following year the question was put to Lovelace.",
        "If you have a lamp, the keeper wrote, light it.",
    ],
)
def test_a_claim_that_only_mentions_such_words_is_a_claim(claim: str):
    assert (is_remark(claim), framed(claim)) == (False, (claim, ()))


def test_a_repair_keeps_talk_byte_for_byte():
    lead, wrong = "Sure!  Here is a summary:\n\n", "Wolves ate the bishop of Ghent [1]. "
    rest = "The tower was lit on 3 May 1824 [1]. I *hope* this helps!\n"
    assert final_text(checked(lead + wrong + rest, repairs=True)) == lead + rest


def test_a_text_of_talk_alone_has_nothing_to_repair():
    answer = checked("Sure! I hope this helps.", repairs=True)
    assert (final_text(answer), answer.notes) == ("Sure! I hope this helps.", ())


@given(st.text(alphabet=" .,:;!()[]12abthepsgoifr\n", max_size=80), st.sampled_from([*TALK, *OPENINGS, ""]))
def test_any_text_can_be_looked_at(text: str, opening: str):
    sentence = opening + text
    assert content_of(sentence).strip() or not sentence.strip()
    assert len(bracket_names(sentence)) == len(sentence)
    is_remark(sentence)


@pytest.mark.parametrize(
    "piece",
    ["the passages and ", "according to the given ", "passage 1 and 2, ", "based on ", "here is the summary of "],
)
def test_long_sentences_cost_their_length_only(piece: str):
    started = time.perf_counter()
    framed(piece * 20_000)
    is_remark(piece * 20_000)
    assert time.perf_counter() - started < 5


# ---------------------------------------------------------------- citations in words


@pytest.mark.parametrize(
    ("sentence", "content", "labels"),
    [
        ("The second passage says that it fell.", "It fell.", [2]),
        ("According to document 2, it fell.", "It fell.", [2]),
        ("As stated in Passage 3, it fell.", "It fell.", [3]),
        ("Passages 1 and 3 both say that it fell.", "It fell.", [1, 3]),
        ("In source 2, it is stated that it fell.", "It fell.", [2]),
        ("The first and second passages state that it fell.", "It fell.", [1, 2]),
        ("It fell, according to passage 1.", "It fell.", [1]),
        ("The given passages say that it fell.", "It fell.", []),
        ("Document 2: it fell.", "It fell.", [2]),
    ],
)
def test_words_that_name_a_passage_cite_it_and_are_no_content(sentence: str, content: str, labels: list[int]):
    assert content_of(sentence) == content
    assert [label.first for label in framed(sentence).labels] == labels


def test_a_citation_in_words_is_judged_by_that_passage_and_the_text_stays():
    (claim,) = checked("The second passage says that the last keeper was Tom Ashby.").claims
    assert (claim.text, claim.cited) == ("The second passage says that the last keeper was Tom Ashby.", (KEEPERS.id,))
    assert claim.is_supported


def test_the_wrong_passage_in_words_fails_and_the_right_one_is_named():
    assert verdict("The first passage says that the last keeper was Tom Ashby.").elsewhere == (KEEPERS.id,)


def test_a_passage_in_parentheses_is_a_citation_and_no_number():
    (claim,) = checked("The last keeper was Tom Ashby (see passage 2).").claims
    assert (claim.text, claim.cited, claim.is_supported) == ("The last keeper was Tom Ashby.", (KEEPERS.id,), True)


def test_a_passage_that_nobody_offered_counts_as_invalid():
    assert checked("According to passage 7, the tower fell.").invalid_citations == 1


def test_a_reply_of_a_model_may_cite_in_words():
    draft = read_reply("The second passage says that the last keeper was Tom Ashby.", GIVEN, "long")
    assert [claim.cited for claim in draft.claims] == [(KEEPERS.id,)]


def test_a_repair_replaces_a_passage_in_parentheses_by_a_mark():
    text = "The last keeper was Tom Ashby (Passage 1)."
    assert final_text(checked(text, repairs=True)) == "The last keeper was Tom Ashby [2]."
