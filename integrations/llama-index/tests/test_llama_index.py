"""The parts in LlamaIndex's own engines and runners, with the trained judge and writer over the demo's documents."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import examples_of, run_beside_clock
from llama_index.core import MockEmbedding, SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import QueryEngineTool
from pydantic import ValidationError
from toulmin_llama_index import AnsweringNodes, CitedQueryEngine, GroundednessEvaluator

from toulmin import ToulminError, UsageError

QUESTION = "When was the sea watch H4 finished?"
SILENT = "Who wrote Hamlet?"
TOWER = ["The tower is 38 metres tall.", "It was lit on 3 May 1824."]
REPLY = "Sure! The tower is 48 metres tall [1]. It was lit in 1824 [2]."


def nodes_of(texts: list[str]) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(id_=f"n{n}", text=text), score=1.0) for n, text in enumerate(texts)]


@pytest.fixture
def index(notes: Path) -> VectorStoreIndex:
    """LlamaIndex's own index of the demo; its vectors are all alike, so a search returns any passages."""
    documents = SimpleDirectoryReader(str(notes), required_exts=[".md", ".txt"]).load_data()
    return VectorStoreIndex.from_documents(documents, embed_model=MockEmbedding(embed_dim=4))


# ---------------------------------------------------------------- the query engine


def test_an_answer_names_its_source_nodes(notes: Path):
    response = CitedQueryEngine(docs="notes").query(QUESTION)
    assert str(response).startswith("The sea watch H4 was finished in 1759 [1].")
    assert response.source_nodes[0].metadata["file_path"].endswith("the_sea_watch_h4.md")


def test_a_quote_stands_in_its_source_node(notes: Path):
    response = CitedQueryEngine(docs="notes").query(QUESTION)
    texts = {node.node_id: node.get_content() for node in response.source_nodes}
    citations = [citation for claim in response.metadata["claims"] for citation in claim["citations"]]
    assert citations
    assert all(citation["quote"] in texts[citation["node"]] for citation in citations)


def test_silence_is_a_response_without_source_nodes(notes: Path):
    response = CitedQueryEngine(docs="notes").query(QueryBundle(SILENT))
    assert (str(response), response.source_nodes) == ("The sources do not say.", [])
    assert response.metadata["status"] == "abstained"


def test_the_nodes_of_another_index_are_cited_by_their_own_ids(index: VectorStoreIndex):
    retriever = index.as_retriever(similarity_top_k=50)
    response = CitedQueryEngine(retriever=retriever).query(QUESTION)
    known = {node.node_id for node in retriever.retrieve(QUESTION)}
    assert "1759 [1]" in str(response)
    assert {node.node_id for node in response.source_nodes} <= known


def test_an_asynchronous_query_answers_the_same(notes: Path, index: VectorStoreIndex):
    for engine in (CitedQueryEngine(docs="notes"), CitedQueryEngine(retriever=index.as_retriever(similarity_top_k=50))):
        assert str(asyncio.run(engine.aquery(QUESTION))) == str(engine.query(QUESTION))


def test_asynchronous_methods_leave_the_event_loop_free():
    nodes = nodes_of(TOWER)
    question = "How tall is the tower?"

    class Retriever(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return nodes

    for work in (
        CitedQueryEngine(retriever=Retriever()).aquery(question),
        AnsweringNodes().apostprocess_nodes(nodes, query_str=question),
        GroundednessEvaluator().aevaluate(response=REPLY, contexts=TOWER),
    ):
        assert run_beside_clock(work)[0] > 2


def test_an_agents_tool_answers_with_citations(notes: Path):
    tool = QueryEngineTool.from_defaults(CitedQueryEngine(docs="notes", options={"style": "short"}), name="notes")
    assert tool.call(QUESTION).content == "1759 [1]"


@pytest.mark.parametrize("sources", [{}, {"docs": "notes", "index": "library"}])
def test_an_engine_wants_one_source(sources: dict[str, Any]):
    with pytest.raises(UsageError, match="needs one source: name docs, index or retriever"):
        CitedQueryEngine(**sources)


def test_a_misspelt_argument_is_refused():
    with pytest.raises(ValidationError, match="dcos"):
        CitedQueryEngine(dcos="notes")


# ---------------------------------------------------------------- the postprocessor


def test_only_nodes_that_answer_reach_the_engine(index: VectorStoreIndex):
    retriever = index.as_retriever(similarity_top_k=50)
    model = MockLLM()  # returns what it reads
    engine = RetrieverQueryEngine.from_args(retriever, llm=model, node_postprocessors=[AnsweringNodes()])
    response = engine.query(QUESTION)
    assert {node.metadata["file_name"] for node in response.source_nodes} == {"the_sea_watch_h4.md"}
    assert set(re.findall(r"file_path: .*?(\w+\.\w+)$", str(response), re.MULTILINE)) == {"the_sea_watch_h4.md"}


def test_no_node_is_kept_when_none_answers(index: VectorStoreIndex):
    nodes = index.as_retriever(similarity_top_k=50).retrieve(SILENT)
    assert (len(nodes) > 5, AnsweringNodes().postprocess_nodes(nodes, query_str=SILENT)) == (True, [])


def test_a_kept_node_has_the_verdict_which_no_model_reads():
    [node] = AnsweringNodes().postprocess_nodes(nodes_of(TOWER), query_str="How tall is the tower?")
    assert [(row["label"], row["citations"][0]["quote"]) for row in node.metadata["toulmin"]] == [
        ("supported", TOWER[0])
    ]
    assert node.get_content(MetadataMode.LLM) == node.get_content(MetadataMode.EMBED) == TOWER[0]


def test_the_nodes_that_came_stay_as_they_are():
    nodes = nodes_of(TOWER)
    AnsweringNodes().postprocess_nodes(nodes, query_str="How tall is the tower?")
    assert [node.metadata for node in nodes] == [{}, {}]


def test_an_asynchronous_postprocessor_keeps_the_same_nodes():
    question = "How tall is the tower?"
    kept = asyncio.run(AnsweringNodes().apostprocess_nodes(nodes_of(TOWER), query_str=question))
    assert [node.node_id for node in kept] == ["n0"]


def test_a_postprocessor_wants_the_question():
    with pytest.raises(UsageError, match="needs the question"):
        AnsweringNodes().postprocess_nodes(nodes_of(TOWER))


def test_a_postprocessor_survives_the_way_through_json():
    part = AnsweringNodes(options={"style": "short"})
    assert AnsweringNodes.from_json(part.to_json()).options == part.options


# ---------------------------------------------------------------- the evaluator


def test_a_false_sentence_is_caught():
    result = GroundednessEvaluator().evaluate(response=REPLY, contexts=TOWER)
    assert (result.score, result.passing) == (0.5, False)
    assert result.feedback == (
        "1 of 2 claims are supported.\n"
        "“The tower is 48 metres tall.” (contradicted: the source says “The tower is 38 metres tall.”)"
    )


def test_a_threshold_lets_a_response_pass():
    assert GroundednessEvaluator(threshold=0.5).evaluate(response=REPLY, contexts=TOWER).passing


@pytest.mark.parametrize("text", ["", "I hope this helps!"])
def test_a_response_without_a_claim_is_no_valid_result(text: str):
    result = GroundednessEvaluator().evaluate(response=text, contexts=TOWER)
    assert (result.invalid_result, result.score, result.passing) == (True, None, None)


def test_a_response_object_is_judged_by_its_source_nodes():
    response = Response("It was lit in 1831.", nodes_of(TOWER))
    assert GroundednessEvaluator().evaluate_response(response=response).score == 0.0


@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")  # the runner calls it itself
def test_a_batch_runs_with_the_other_evaluators(notes: Path):
    runner = BatchEvalRunner({"mine": GroundednessEvaluator()}, workers=2)
    texts = ["The tower is 38 metres tall.", "The tower is 48 metres tall."]
    work = runner.aevaluate_response_strs(["?", "?"], response_strs=texts, contexts_list=[TOWER, TOWER])
    assert [result.score for result in asyncio.run(work)["mine"]] == [1.0, 0.0]


def test_an_answer_of_the_engine_passes_the_evaluator(notes: Path):
    response = CitedQueryEngine(docs="notes").query(QUESTION)
    assert GroundednessEvaluator().evaluate_response(response=response).passing


def test_an_unknown_judge_is_named():
    with pytest.raises(ToulminError, match="no judge called 'embeded'"):
        GroundednessEvaluator(judge="embeded").evaluate(response=REPLY, contexts=TOWER)


def test_an_evaluator_wants_contexts():
    with pytest.raises(UsageError, match="needs a response and its contexts"):
        GroundednessEvaluator().evaluate(response=REPLY)


def test_a_threshold_outside_its_range_is_refused():
    with pytest.raises(UsageError, match="A threshold lies in 0"):
        GroundednessEvaluator(threshold=90)


@pytest.mark.parametrize(
    ("code", "printed"), examples_of("LlamaIndex", readme=Path(__file__).parent.parent / "README.md")
)
def test_an_example_of_the_pages_runs(code: str, printed: str, run_example: Any):
    run_example(code, printed)
