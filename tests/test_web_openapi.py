"""The published OpenAPI document, held against the running server by a property-based tester."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig as Config
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)
from web_parts import Served, served

from toulmin.indexing.update import update

TOKEN = "a token for this test alone"
REFUSED = [
    "400",
    "401",
    "404",
    "405",
    "413",
    "415",
    "422",
]  # 413 too: some of what it makes is larger than a body may be
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over an index of its own, which takes files."""
    folder = tmp_path_factory.mktemp("openapi")
    (folder / "docs").mkdir()
    (folder / "docs" / "tower.txt").write_text("Kettle Rock Tower was lit for the first time on 3 May 1824.", "utf-8")
    (folder / "docs" / "bad.txt").write_bytes(b"\x00\x01")
    update(folder / "index", [folder / "docs"])
    with served(folder / "index", token=TOKEN) as found:
        yield found


@pytest.fixture(scope="module")
def api(server: Served) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(
        f"{server.url}openapi.json",
        headers={"Authorization": f"Bearer {TOKEN}"},
        config=Config.from_dict({"checks": {"negative_data_rejection": {"expected-statuses": REFUSED}}}),
    )


def test_every_route_keeps_what_the_document_says(api: schemathesis.BaseSchema):
    tried = set()
    for found in api.get_all_operations():
        operation = found.ok()
        probe(operation)
        tried.add(operation.path)
    assert {"/v1/answers", "/v1/check", "/v1/search", "/v1/documents", "/v1/chat/completions"} <= tried


def probe(operation: schemathesis.APIOperation) -> None:
    """Asks many things of one route, some of which it should refuse."""

    @given(case=operation.as_strategy(GenerationMode.POSITIVE) | operation.as_strategy(GenerationMode.NEGATIVE))
    @settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def holds(case: schemathesis.Case) -> None:
        reply = case.call(headers={"Authorization": f"Bearer {TOKEN}"})
        # A request may set a limit that ends its reply.
        case.validate_response(reply, checks=CHECKS[1:] if reply.status_code == 504 else CHECKS)

    holds()
