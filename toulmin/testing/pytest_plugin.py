"""A pytest plugin: a fixture and a marker that check documents and texts against their sources.

Every run of pytest loads it if Toulmin is installed, so slow imports stand where they are used.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

import toulmin
from toulmin.errors import ModelError, SourceError, ToulminError, UsageError

if TYPE_CHECKING:
    from toulmin.checking.findings import CheckedFile
    from toulmin.data import Claim, Passage
    from toulmin.driver.kit import Judge
    from toulmin.testing.failing import Demands

_OPTIONS = {
    "judge": "the judge of claims, as `toulmin check --judge` has it",
    "fail_on": "the least grave rule that fails a claim (default: absent, and unsupported for a text)",
    "threshold": "the support score that each claim needs besides, from 0 to 1",
    "baseline": "a file of claims to leave out, each with its reason",
}
_MARKER = "grounded(*files, docs=..., **options): a test for each claim of the files; the test takes `claim`"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("toulmin", "documents held against their sources")
    for name, text in _OPTIONS.items():
        group.addoption(f"--grounded-{name.replace('_', '-')}", help=text)
        parser.addini(f"grounded_{name}", text, default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    config.stash[_DOCUMENTS] = {}
    if _option(config, "fail_on") or _option(config, "threshold"):
        try:
            _demands(config, {})
        except UsageError as error:
            raise pytest.UsageError(str(error)) from error


def _option(config: pytest.Config, name: str) -> str | None:
    """From the command line, else from the settings of pytest."""
    return config.getoption(f"grounded_{name}") or config.getini(f"grounded_{name}") or None


# ---------------------------------------------------------------- what a call asks for


def _demands(config: pytest.Config, options: dict[str, Any], *, is_text: bool = False) -> Demands:
    """Removes its options from `options`. Raises `UsageError`."""
    from toulmin.testing.failing import OF_FILES, OF_TEXTS, Demands

    fail_on, threshold = options.pop("fail_on", None), options.pop("threshold", None)
    if threshold is None:
        threshold = _option(config, "threshold")
    try:
        score = None if threshold is None else float(threshold)
    except ValueError as error:
        raise UsageError(f"A threshold is a support score from 0 to 1, not {threshold!r}.") from error
    return Demands(fail_on or _option(config, "fail_on") or (OF_TEXTS if is_text else OF_FILES), score)


def _sources(config: pytest.Config, options: dict[str, Any]) -> dict[str, Any]:
    """The options with absolute paths, and with passages made of texts."""
    from toulmin.build.sources import passages_of

    chosen = {name: value for name, value in options.items() if value is not None}
    for name in {"docs", "index", "baseline"} & chosen.keys():
        chosen[name] = _in_project(config, chosen[name])
    if "passages" in chosen:
        chosen["passages"] = passages_of(chosen["passages"])
    if "judge" not in chosen and (judge := _option(config, "judge")):
        chosen["judge"] = judge
    return chosen


def _in_project(config: pytest.Config, path: Any) -> Any:
    """One path or several, relative to pytest's root folder; addresses (s3://) stay."""
    if not isinstance(path, str | os.PathLike):
        return [_in_project(config, each) for each in path]
    return path if "://" in os.fspath(path) else os.fspath(config.rootpath / path)


@contextmanager
def _from_root(config: pytest.Config) -> Iterator[None]:
    """Adds the root folder to the error for a file that cannot be read: pytest may run in another folder."""
    try:
        yield
    except SourceError as error:
        raise SourceError(f"{error} Relative paths are those of pytest's root folder, {config.rootpath}.") from error


def _check(config: pytest.Config, file: str | os.PathLike[str], options: dict[str, Any]) -> tuple[CheckedFile, ...]:
    baseline = options.get("baseline") or _option(config, "baseline")
    chosen = _sources(config, {**options, "baseline": baseline})
    with _from_root(config):
        return toulmin.check_files(_in_project(config, file), **chosen)


def _check_text(config: pytest.Config, text: str, options: dict[str, Any]) -> CheckedFile:
    from toulmin.checking.findings import CheckedFile, findings_of
    from toulmin.testing.failing import TEXT

    if options.get("baseline"):
        raise UsageError("A baseline names claims of files, but a text came; give one of the two.")
    with _from_root(config):
        answer = toulmin.check(text, **_sources(config, {**options, "baseline": None}))
    if answer.status == "failed":
        raise ModelError(" ".join(answer.notes))
    return CheckedFile(TEXT, answer, findings_of(answer))


def _name(config: pytest.Config, checked: CheckedFile) -> str:
    """The path relative to the project's folder."""
    path = os.path.abspath(checked.path)
    return path.removeprefix(f"{config.rootpath}{os.sep}").replace(os.sep, "/")


@contextmanager
def _failing() -> Iterator[None]:
    """An error of Toulmin fails the test with its message alone."""
    try:
        yield
    except ToulminError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


# ---------------------------------------------------------------- the fixture


class GroundingFixture:
    """The fixture `grounded`: holds a document or a text against its sources."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def __call__(
        self,
        file: str | os.PathLike[str] | None = None,
        *,
        text: str | None = None,
        docs: Any = None,
        index: str | os.PathLike[str] | None = None,
        passages: Sequence[str | Passage] | None = None,
        judge: str | Judge | None = None,
        fail_on: str | None = None,
        threshold: float | None = None,
        baseline: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> CheckedFile:
        """Fails the test if a claim of the file, or of `text`, fails; else returns the judged file.

        A claim fails by the rule `fail_on` ("absent"; "unsupported" for a text), a graver one, or below `threshold`.
        """
        options |= {"docs": docs, "index": index, "passages": passages, "judge": judge}
        options |= {"fail_on": fail_on, "threshold": threshold, "baseline": baseline}
        with _failing():
            demands = _demands(self._config, options, is_text=text is not None)
            checked = self._check(file, text, options)
            failures = demands.failures(checked)
        if failures:
            from toulmin.testing.failing import describe

            name = _name(self._config, checked) if text is None else checked.path
            judged = sum(claim.support is not None for claim in checked.answer.claims)
            pytest.fail(describe(name, failures, judged), pytrace=False)
        return checked

    def _check(self, file: str | os.PathLike[str] | None, text: str | None, options: dict[str, Any]) -> CheckedFile:
        if (file is None) == (text is None):
            raise UsageError('Give grounded() one of a file and a text: grounded("README.md"), grounded(text=reply).')
        if text is not None:
            return _check_text(self._config, text, options)
        assert file is not None
        if (self._config.rootpath / file).is_dir():
            raise UsageError(f"grounded() takes one file, but {file} is a folder; the marker `grounded` takes folders.")
        [checked] = _check(self._config, file, options)
        return checked


@pytest.fixture
def grounded(pytestconfig: pytest.Config) -> GroundingFixture:
    """Fails the test unless the sources say what a document or a text claims."""
    return GroundingFixture(pytestconfig)


# ---------------------------------------------------------------- the marker


class _Document:
    """Claims of a file: listed when tests are collected, judged when the first test needs a verdict."""

    def __init__(self, config: pytest.Config, file: str | os.PathLike[str], options: Mapping[str, Any]) -> None:
        self._config, self._file, self._options = config, file, dict(options)
        self.demands = _demands(config, self._options)

    @cached_property
    def cases(self) -> list[ClaimCase]:
        # Without any passage nothing is read or judged; whoever has a verdict all the same is a claim.
        files = _check(self._config, self._file, {"passages": [], "judge": "lexical", "memo": False})
        rows = [(_name(self._config, each), claim) for each in files for claim in each.answer.claims]
        return [ClaimCase(self, path, claim) for path, claim in rows if claim.support]

    @cached_property
    def judged(self) -> dict[str, CheckedFile]:
        return {_name(self._config, each): each for each in _check(self._config, self._file, self._options)}


class ClaimCase:
    """The `claim` of a test marked `grounded`, not yet judged."""

    def __init__(self, document: _Document, path: str, claim: Claim) -> None:
        self.path, self.text, self.place = path, claim.text, claim.place
        self._document = document

    @property
    def line(self) -> str:
        return f"{self.path}:{self.place.line}" if self.place else self.path

    def check(self) -> Claim:
        """Fails the test if the claim fails, skips it if the claim is left out; else returns the judged claim."""
        with _failing():
            checked = self._document.judged[self.path]
            failures = [each for each in self._document.demands.failures(checked) if self._is(each.claim)]
        if failures:
            from toulmin.testing.failing import paragraph

            pytest.fail(paragraph(self.path, failures[0]), pytrace=False)
        for finding in checked.findings:
            if finding.excuse is not None and self._is(finding.claim):
                pytest.skip(finding.excuse)
        return next(claim for claim in checked.answer.claims if self._is(claim))

    def _is(self, claim: Claim) -> bool:
        return (claim.place, claim.text) == (self.place, self.text)

    def __repr__(self) -> str:
        return f"<{self.line}: {self.text}>"


_DOCUMENTS = pytest.StashKey[dict[str, _Document]]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    markers = list(metafunc.definition.iter_markers("grounded"))
    if not markers:
        return
    name = metafunc.definition.name
    if "claim" not in metafunc.fixturenames:
        pytest.fail(
            f"{name} is marked `grounded`, so it takes `claim`: def {name}(claim): claim.check()", pytrace=False
        )
    with _failing():
        cases = [case for marker in markers for case in _cases(metafunc.config, marker)]
    metafunc.parametrize("claim", cases, ids=_ids(cases))


def _ids(cases: Sequence[ClaimCase]) -> list[str]:
    """The line of each claim, and its column if a line has several."""
    lines = Counter(case.line for case in cases)
    return [f"{case.line}:{case.place.column}" if case.place and lines[case.line] > 1 else case.line for case in cases]


def _cases(config: pytest.Config, marker: pytest.Mark) -> Iterator[ClaimCase]:
    """Tests with equal markers share the judged file."""
    if not marker.args:
        raise UsageError('The marker names no file; write @pytest.mark.grounded("README.md", docs="docs/").')
    for file in marker.args:
        key = repr((os.fspath(file), marker.kwargs))
        document = config.stash[_DOCUMENTS].setdefault(key, _Document(config, file, marker.kwargs))
        yield from document.cases
