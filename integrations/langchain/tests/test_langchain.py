"""The runnables in LangChain's own chains, with the trained judge and writer over the demo's documents."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from conftest import examples_of, run_beside_clock
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumps, loads
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from pydantic import ValidationError
from toulmin_langchain import CitedAnswer, GroundednessChecker, ToulminRetriever

from toulmin import ToulminError, UsageError

QUESTION = "When was the sea watch H4 finished?"
SILENT = "Who wrote Hamlet?"
TOWER = [
    Document(id="height", page_content="The tower is 38 metres tall.", metadata={"source": "https://tower.example/"}),
    Document(id="lamp", page_content="It was lit on 3 May 1824.", metadata={"title": "The lamp"}),
]
REPLY = "Sure! The tower is 48 metres tall [1]. It was lit in 1824 [2]."


def answering() -> Runnable[str, AIMessage]:
    return {"question": RunnablePassthrough(), "documents": ToulminRetriever(docs="notes", k=4)} | CitedAnswer()


def citations_of(message: AIMessage) -> list[dict[str, Any]]:
    [block] = message.content_blocks
    assert block["type"] == "text"
    return list(block.get("annotations", []))


# ---------------------------------------------------------------- in a chain


def test_a_chain_answers_from_the_documents_that_it_retrieves(notes: Path):
    message = answering().invoke(QUESTION)
    assert message.text.startswith("The sea watch H4 was finished in 1759 [1].")
    assert message.response_metadata["status"] == "answered"


def test_a_citation_has_the_sentence_and_the_words_of_its_file(notes: Path):
    message = answering().invoke(QUESTION)
    citations = citations_of(message)
    assert citations[0]["cited_text"] == "The sea watch H4 was finished in 1759."
    sentences = [message.text[citation["start_index"] : citation["end_index"]] for citation in citations]
    assert " ".join(dict.fromkeys(sentences)) == message.text
    for citation in citations:
        text = Path(unquote(urlsplit(citation["url"]).path)).read_text("utf-8")
        assert " ".join(citation["cited_text"].split()) in " ".join(text.split())


def test_a_citation_carries_the_verdict_on_its_sentence(notes: Path):
    extras = citations_of(answering().invoke(QUESTION))[0]["extras"]
    assert (extras["label"], extras["score"] > 0.5) == ("supported", True)


def test_a_citation_keeps_the_address_of_a_document():
    message = CitedAnswer().invoke({"question": "How tall is the tower?", "documents": TOWER})
    assert citations_of(message)[0]["url"] == "https://tower.example/"


def test_silence_is_a_message_without_citations(notes: Path):
    message = answering().invoke(SILENT)
    assert (message.text, citations_of(message)) == ("The sources do not say.", [])
    assert message.response_metadata["status"] == "abstained"


def test_a_chat_models_reply_is_checked_in_the_chain():
    model = FakeListChatModel(responses=[REPLY])  # stands for a chat model; the check is the real one
    chain = {"text": model, "documents": RunnableLambda(lambda _: TOWER)} | GroundednessChecker()
    assert chain.invoke("How tall is the tower?")["score"] == 0.5


def test_the_answer_of_a_chain_passes_its_check(notes: Path):
    chain = {"text": CitedAnswer(docs="notes")} | GroundednessChecker(docs="notes")
    checked = chain.invoke({"question": QUESTION})
    assert (checked["score"], len(checked["claims"]) > 0) == (1.0, True)


def test_a_callback_sees_the_documents_found(notes: Path):
    class Recorder(BaseCallbackHandler):
        titles: list[str]

        def on_retriever_end(self, documents: list[Document], **_: Any) -> None:
            self.titles = [document.metadata["title"] for document in documents]

    recorder = Recorder()
    answering().invoke(QUESTION, {"callbacks": [recorder]})
    assert recorder.titles[0] == "The sea watch H4"


def test_a_callback_sees_the_verdicts():
    class Recorder(BaseCallbackHandler):
        outputs: Any = None

        def on_chain_end(self, outputs: Any, **_: Any) -> None:
            self.outputs = outputs

    recorder = Recorder()
    checked = GroundednessChecker().invoke({"text": REPLY, "documents": TOWER}, {"callbacks": [recorder]})
    assert recorder.outputs == checked


# ---------------------------------------------------------------- the checker


def test_a_false_sentence_is_caught_and_the_true_one_kept():
    checked = GroundednessChecker().invoke({"text": REPLY, "documents": TOWER})
    assert [claim["label"] for claim in checked["claims"]] == ["contradicted", "supported"]
    assert checked["claims"][0]["reason"] == "the source says “The tower is 38 metres tall.”"
    assert checked["supported"] == "It was lit in 1824 [2]."


def test_a_mark_of_the_wrong_document_fails():
    checked = GroundednessChecker().invoke({"text": "It was lit in 1824 [1].", "documents": TOWER})
    assert [claim["label"] for claim in checked["claims"]] == ["unsupported"]


@pytest.mark.parametrize("text", ["", " \n", "I hope this helps!"])
def test_a_text_without_a_claim_has_no_score(text: str):
    checked = GroundednessChecker().invoke({"text": text, "documents": TOWER})
    assert checked == {"claims": [], "score": None, "supported": ""}


def test_lines_of_the_supported_text_stay_apart():
    text = "- The tower is 38 metres tall.\n- It is 48 metres tall.\n- It was lit in 1824. It was lit on 3 May."
    checked = GroundednessChecker().invoke({"text": text, "documents": TOWER})
    assert checked["supported"] == "The tower is 38 metres tall.\nIt was lit in 1824. It was lit on 3 May."


def test_another_judge_is_chosen_by_name():
    checked = GroundednessChecker(judge="lexical").invoke({"text": REPLY, "documents": TOWER})
    assert {claim["judge"] for claim in checked["claims"]} == {"lexical-3"}


# ---------------------------------------------------------------- batches, event loops, saving, errors


def test_a_batch_is_checked_in_order():
    texts = ["The tower is 38 metres tall.", "The tower is 48 metres tall."]
    checked = GroundednessChecker().batch([{"text": text, "documents": TOWER} for text in texts])
    assert [each["score"] for each in checked] == [1.0, 0.0]


def test_an_asynchronous_chain_answers_the_same(notes: Path):
    message = asyncio.run(answering().ainvoke(QUESTION))
    assert message.text == answering().invoke(QUESTION).text


def test_an_asynchronous_check_leaves_the_event_loop_free():
    ticks, checked = run_beside_clock(GroundednessChecker().ainvoke({"text": REPLY, "documents": TOWER}))
    assert (ticks > 2, checked["score"]) == (True, 0.5)


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")
@pytest.mark.parametrize(
    "runnable",
    [ToulminRetriever(index="library", k=3), CitedAnswer(docs=["a", "b"]), GroundednessChecker(judge="lexical")],
)
def test_a_runnable_survives_the_way_through_json(runnable: Any):
    kinds = [ToulminRetriever, CitedAnswer, GroundednessChecker]
    loaded = loads(dumps(runnable), allowed_objects=kinds, valid_namespaces=["toulmin_langchain"])
    assert loaded == runnable


def test_a_retriever_without_sources_is_refused_when_it_is_made():
    with pytest.raises(UsageError, match=r"ToulminRetriever has no sources; .* docs=\.\.\. or index="):
        ToulminRetriever()


def test_two_kinds_of_sources_are_refused():
    with pytest.raises(UsageError, match="Name docs or index, not both"):
        CitedAnswer(docs="notes", index="library")


def test_a_misspelt_argument_is_refused():
    with pytest.raises(ValidationError, match="dcos"):
        CitedAnswer(dcos="notes")


@pytest.mark.parametrize(
    ("input", "message"),
    [
        (REPLY, "takes a dict with 'text' and 'documents', but got str"),
        ({"reply": REPLY}, "takes a dict with 'text' and 'documents', but got the keys 'reply'"),
        ({"text": REPLY}, "GroundednessChecker has no sources; pass 'documents'"),
    ],
)
def test_a_wrong_input_is_explained(input: Any, message: str):
    with pytest.raises(UsageError, match=message):
        GroundednessChecker().invoke(input)


def test_an_unknown_judge_is_named():
    with pytest.raises(ToulminError, match="no judge called 'embeded'"):
        GroundednessChecker(judge="embeded").invoke({"text": REPLY, "documents": TOWER})


@pytest.mark.parametrize(
    ("code", "printed"), examples_of("LangChain", readme=Path(__file__).parent.parent / "README.md")
)
def test_an_example_of_the_pages_runs(code: str, printed: str, run_example: Any):
    run_example(code, printed)
