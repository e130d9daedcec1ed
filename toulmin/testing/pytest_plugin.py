"""A pytest plugin: a fixture that checks documents and texts against their sources.

Every run of pytest loads it if Toulmin is installed, so slow imports stand where they are used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

import toulmin
from toulmin.errors import ModelError, SourceError, ToulminError, UsageError

if TYPE_CHECKING:
    from toulmin.checking.findings import CheckedFile
    from toulmin.data import Passage
    from toulmin.driver.kit import Judge
    from toulmin.testing.failing import Demands

_OPTIONS = {
    "judge": "the judge of claims, as `toulmin check --judge` has it",
    "fail_on": "the least grave rule that fails a claim (default: absent, and unsupported for a text)",
    "threshold": "the support score that each claim needs besides, from 0 to 1",
    "baseline": "a file of claims to leave out, each with its reason",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("toulmin", "documents held against their sources")
    for name, text in _OPTIONS.items():
        group.addoption(f"--grounded-{name.replace('_', '-')}", help=text)
        parser.addini(f"grounded_{name}", text, default="")


def pytest_configure(config: pytest.Config) -> None:
    if _option(config, "fail_on") or _option(config, "threshold"):
        try:
            _demands(config)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from error


def _option(config: pytest.Config, name: str) -> str | None:
    """From the command line, else from the settings of pytest."""
    return config.getoption(f"grounded_{name}") or config.getini(f"grounded_{name}") or None


# ---------------------------------------------------------------- what a call asks for


def _demands(
    config: pytest.Config, fail_on: str | None = None, threshold: float | str | None = None, *, is_text: bool = False
) -> Demands:
    """Raises `UsageError`."""
    from toulmin.testing.failing import OF_FILES, OF_TEXTS, Demands

    if threshold is None:
        threshold = _option(config, "threshold")
    try:
        score = None if threshold is None else float(threshold)
    except ValueError as error:
        raise UsageError(f"A threshold is a support score from 0 to 1, not {threshold!r}.") from error
    return Demands(fail_on or _option(config, "fail_on") or (OF_TEXTS if is_text else OF_FILES), score)


def _sources(config: pytest.Config, options: dict[str, Any]) -> dict[str, Any]:
    """The options with absolute paths."""
    chosen = {name: value for name, value in options.items() if value is not None}
    for name in {"docs", "index", "baseline"} & chosen.keys():
        chosen[name] = _in_project(config, chosen[name])
    return chosen


def _in_project(config: pytest.Config, path: Any) -> Any:
    """One path or several, relative to pytest's root folder; addresses (s3://) stay."""
    if not isinstance(path, str | os.PathLike):
        return [_in_project(config, each) for each in path]
    return path if "://" in os.fspath(path) else os.fspath(config.rootpath / path)


def _check(config: pytest.Config, file: str | os.PathLike[str], options: dict[str, Any]) -> tuple[CheckedFile, ...]:
    baseline = options.get("baseline") or _option(config, "baseline")
    chosen = _sources(config, {**options, "baseline": baseline})
    return toulmin.check_files(_in_project(config, file), **chosen)


def _check_text(config: pytest.Config, text: str, options: dict[str, Any]) -> CheckedFile:
    from toulmin.checking.findings import CheckedFile, findings_of
    from toulmin.testing.failing import TEXT

    if options.get("baseline"):
        raise UsageError("A baseline names claims of files, but a text came; give one of the two.")
    answer = toulmin.check(text, **_sources(config, {**options, "baseline": None}))
    if answer.status == "failed":
        raise ModelError(" ".join(answer.notes))
    return CheckedFile(TEXT, answer, findings_of(answer))


def _name(config: pytest.Config, checked: CheckedFile) -> str:
    """The path relative to the project's folder."""
    path = os.path.abspath(checked.path)
    return path.removeprefix(f"{config.rootpath}{os.sep}").replace(os.sep, "/")


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
        options |= {"docs": docs, "index": index, "passages": passages, "baseline": baseline}
        options["judge"] = judge or _option(self._config, "judge")
        try:
            demands = _demands(self._config, fail_on, threshold, is_text=text is not None)
            checked = self._check(file, text, options)
            failures = demands.failures(checked)
        except ToulminError as error:  # its message alone, and the root folder: pytest may run in another one
            root = f" Relative paths are those of pytest's root folder, {self._config.rootpath}."
            message = f"{error}{root if isinstance(error, SourceError) else ''}"
            raise pytest.fail.Exception(message, pytrace=False) from None
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
            raise UsageError(f"grounded() takes one file, but {file} is a folder; call it for each file.")
        [checked] = _check(self._config, file, options)
        return checked


@pytest.fixture
def grounded(pytestconfig: pytest.Config) -> GroundingFixture:
    """Fails the test unless the sources say what a document or a text claims."""
    return GroundingFixture(pytestconfig)
