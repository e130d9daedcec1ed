"""The components in Haystack's own pipelines, with the trained judge and writer over the demo's documents."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import haystack
import pytest
from conftest import examples_of, run_beside_clock
from haystack import Document, GeneratedAnswer, Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.toulmin import CitedAnswerBuilder, GroundednessChecker, ToulminRetriever

from toulmin import UsageError

# Haystack 3 has one kind of pipeline for both.
AsyncPipeline = getattr(haystack, "AsyncPipeline", Pipeline)
QUESTION = "When was the sea watch H4 finished?"
SILENT = "Who wrote Hamlet?"
TOWER = [Document(content="The tower is 38 metres tall."), Document(content="It was lit on 3 May 1824.")]
REPLY = "Sure! The tower is 48 metres tall [1]. It was lit in 1824 [2]."


def pipeline_of(kind: type[Pipeline] = Pipeline) -> Any:
    """Retrieves, answers and checks the answer."""
    pipeline = kind()
    pipeline.add_component("retriever", ToulminRetriever(docs="notes", top_k=4))
    pipeline.add_component("builder", CitedAnswerBuilder())
    pipeline.add_component("checker", GroundednessChecker())
    pipeline.connect("retriever.documents", "builder.documents")
    pipeline.connect("builder.answers", "checker.answers")
    return pipeline


def run(pipeline: Any, question: str) -> dict[str, Any]:
    data = {"retriever": {"query": question}, "builder": {"query": question}}
    return pipeline.run(data, include_outputs_from={"retriever", "builder"})


# ---------------------------------------------------------------- in a pipeline


def test_an_answer_cites_the_documents_of_the_pipeline(notes: Path):
    results = run(pipeline_of(), QUESTION)
    [answer] = results["builder"]["answers"]
    assert isinstance(answer, GeneratedAnswer)
    assert answer.data.startswith("The sea watch H4 was finished in 1759 [1].")
    retrieved = {document.id for document in results["retriever"]["documents"]}
    assert {document.id for document in answer.documents} <= retrieved


def test_a_quote_stands_in_the_cited_document(notes: Path):
    [answer] = run(pipeline_of(), QUESTION)["builder"]["answers"]
    texts = {document.id: document.content for document in answer.documents}
    citations = [citation for claim in answer.meta["claims"] for citation in claim["citations"]]
    assert citations
    assert all(citation["quote"] in texts[citation["document"]] for citation in citations)


def test_an_answer_passes_its_own_check(notes: Path):
    checked = run(pipeline_of(), QUESTION)["checker"]
    assert (checked["score"], len(checked["scores"])) == (1.0, 1)


def test_silence_is_an_answer_with_its_status_and_no_documents(notes: Path):
    results = run(pipeline_of(), SILENT)
    [answer] = results["builder"]["answers"]
    assert (answer.meta["status"], answer.documents, answer.meta["claims"]) == ("abstained", [], [])
    assert answer.data == answer.meta["notes"][0] == "The sources do not say."


def test_silence_has_no_score(notes: Path):
    assert run(pipeline_of(), SILENT)["checker"] == {"claims": [[]], "scores": [None], "score": None, "supported": [""]}


def test_documents_of_another_store_are_cited_by_their_own_ids():
    store = InMemoryDocumentStore()
    store.write_documents(TOWER)
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store))
    pipeline.add_component("builder", CitedAnswerBuilder())
    pipeline.connect("retriever.documents", "builder.documents")
    question = "How tall is the tower?"
    [answer] = pipeline.run({"retriever": {"query": question}, "builder": {"query": question}})["builder"]["answers"]
    assert [document.id for document in answer.documents][:1] == [TOWER[0].id]
    assert answer.meta["claims"][0]["citations"][0]["document"] == TOWER[0].id


def test_replies_of_a_chat_model_are_checked_by_joined_documents():
    pipeline = Pipeline()
    pipeline.add_component("joiner", DocumentJoiner(join_mode="concatenate", sort_by_score=False))
    pipeline.add_component("writer", ChatPromptBuilder(template=[ChatMessage.from_assistant(REPLY)]))
    pipeline.add_component("checker", GroundednessChecker())
    pipeline.connect("joiner.documents", "checker.documents")
    pipeline.connect("writer.prompt", "checker.replies")  # stands for a chat model, which returns messages as well
    checked = pipeline.run({"joiner": {"documents": TOWER}})["checker"]
    assert checked["scores"] == [0.5]


# ---------------------------------------------------------------- the checker


def test_a_false_sentence_is_caught_and_the_true_one_kept():
    checked = GroundednessChecker().run(replies=[REPLY], documents=TOWER)
    assert [claim["label"] for claim in checked["claims"][0]] == ["contradicted", "supported"]
    assert checked["claims"][0][0]["reason"] == "the source says “The tower is 38 metres tall.”"
    assert checked["supported"] == ["It was lit in 1824 [2]."]


def test_a_mark_of_the_wrong_document_fails():
    checked = GroundednessChecker().run(replies=["It was lit in 1824 [1]."], documents=TOWER)
    assert [claim["label"] for claim in checked["claims"][0]] == ["unsupported"]


def test_each_reply_has_its_score_and_all_have_one():
    replies = ["The tower is 38 metres tall.", REPLY, "", "I hope this helps!"]
    checked = GroundednessChecker().run(replies=replies, documents=TOWER)
    assert (checked["scores"], checked["score"]) == ([1.0, 0.5, None, None], 2 / 3)


def test_lines_of_the_supported_text_stay_apart():
    reply = "- The tower is 38 metres tall.\n- It is 48 metres tall.\n- It was lit in 1824. It was lit on 3 May."
    [supported] = GroundednessChecker().run(replies=[reply], documents=TOWER)["supported"]
    assert supported == "The tower is 38 metres tall.\nIt was lit in 1824. It was lit on 3 May."


def test_replies_are_checked_by_a_folder(notes: Path):
    replies = ["The Board of Longitude was dissolved in 1828.", "The Board of Longitude was dissolved in 1928."]
    assert GroundednessChecker(docs="notes").run(replies=replies)["scores"] == [1.0, 0.0]


def test_replies_without_any_document_are_not_supported():
    assert GroundednessChecker().run(replies=["The tower is tall."], documents=[])["score"] == 0.0


def test_another_judge_is_chosen_by_name():
    checked = GroundednessChecker(judge="lexical").run(replies=[REPLY], documents=TOWER)
    assert {claim["judge"] for claim in checked["claims"][0]} == {"lexical-3"}


# ---------------------------------------------------------------- saving, event loops, errors


def test_a_saved_pipeline_answers_as_before(notes: Path):
    loaded = Pipeline.loads(pipeline_of().dumps())
    assert run(loaded, QUESTION) == run(pipeline_of(), QUESTION)


@pytest.mark.parametrize(
    "part",
    [
        ToulminRetriever(index="library", top_k=3, options={"fusion": "lexical"}),
        CitedAnswerBuilder(docs=["a", "b"], options={"style": "short"}),
        GroundednessChecker(judge="lexical", docs="a"),
    ],
)
def test_a_component_survives_the_way_through_a_dict(part: Any):
    assert type(part).from_dict(part.to_dict()).to_dict() == part.to_dict()


def test_an_asynchronous_pipeline_answers_the_same(notes: Path):
    data = {"retriever": {"query": QUESTION}, "builder": {"query": QUESTION}}
    work = pipeline_of(AsyncPipeline).run_async(data, include_outputs_from={"retriever", "builder"})
    assert asyncio.run(work) == run(pipeline_of(), QUESTION)


def test_an_asynchronous_run_leaves_the_event_loop_free():
    ticks, checked = run_beside_clock(GroundednessChecker().run_async(replies=[REPLY], documents=TOWER))
    assert (ticks > 2, checked["score"]) == (True, 0.5)


def test_a_retriever_without_sources_is_refused_when_it_is_made():
    with pytest.raises(UsageError, match=r"ToulminRetriever has no sources; .* docs=\.\.\. or index="):
        ToulminRetriever()


def test_two_kinds_of_sources_are_refused():
    with pytest.raises(UsageError, match="Name docs or index, not both"):
        CitedAnswerBuilder(docs="notes", index="library")


def test_a_checker_wants_replies_or_answers():
    with pytest.raises(UsageError, match="either `replies` or `answers`"):
        GroundednessChecker().run(documents=TOWER)


def test_a_check_without_sources_is_refused():
    with pytest.raises(UsageError, match="GroundednessChecker has no sources; connect `documents`"):
        GroundednessChecker().run(replies=[REPLY])


def test_a_document_without_text_is_named():
    with pytest.raises(UsageError, match="Document 2 has no text to cite"):
        GroundednessChecker().run(replies=[REPLY], documents=[TOWER[0], Document(meta={"page": 1})])


def test_an_unknown_judge_is_named_by_the_pipeline():
    pipeline = Pipeline()
    pipeline.add_component("checker", GroundednessChecker(judge="embeded"))
    with pytest.raises(Exception, match=r"no judge called 'embeded'(.|\n)*Did you mean embedded"):
        pipeline.run({"checker": {"replies": [REPLY], "documents": TOWER}})


@pytest.mark.parametrize(
    ("code", "printed"), examples_of("Haystack", readme=Path(__file__).parent.parent / "README.md")
)
def test_an_example_of_the_pages_runs(code: str, printed: str, run_example: Any):
    run_example(code, printed)
