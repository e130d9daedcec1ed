"""Exports of answers: our formats, those of other packages, and documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toulmin.build.specs import Registry, Spec, constant
from toulmin.config import Settings
from toulmin.data import Answer
from toulmin.errors import ToulminError, UsageError
from toulmin.evaluation.run_folder import make_folder, replace_file
from toulmin.evaluation.saved_answers import read_answers
from toulmin.evaluation.scores import read_scorable
from toulmin.formats.bibliography import PLAIN
from toulmin.formats.dialect import Dialect, Piece
from toulmin.formats.export import DIALECTS, export_answers
from toulmin.formats.press import FORMS, Form, export_answer, file_name
from toulmin.metrics.choosing import QAMPARI

_PARTS: dict[str, Dialect | Form] = {**DIALECTS, **FORMS}
_OURS = (Spec(name, part.help, constant(part)) for name, part in _PARTS.items())
FORMATS: Registry[Dialect | Form] = Registry("format", _OURS)


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The files of an export, and notes on what was cut."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def export(source: Path, name: str, out: Path | None, style: str = PLAIN) -> ExportReport:
    """Writes saved answers, or those of a run, in the named format; `style` is for a document's references.

    The default `out` is `NAME.json` or `.jsonl` in a run's folder, or the document's ending beside a saved answer.
    Several documents or seeds get a file each. Raises `UsageError` for an unknown format or style.
    """
    part = FORMATS.find(name).make(Settings())
    if isinstance(part, Form):
        return _export_documents(source, name, part, out, style)
    if style != PLAIN:
        raise UsageError(
            f"Only {', '.join(n for n, form in FORMS.items() if form.has_style)} have a style; leave it out for {name}."
        )
    called, ending = name.replace(":", "-"), "jsonl" if part.form == "lines" else "json"
    if (saved := _saved(source)) is not None:
        file = out or source.with_name(f"{source.stem}-{called}.{ending}")
        exports = {file: export_answers(saved, (), part, run_id=source.stem)}
    else:
        exports = dict(_run_exports(source, name, part, out, f"{called}{{}}.{ending}"))
    for file, exported in exports.items():
        _write(file, exported.data)
    return ExportReport(tuple(exports), tuple(note for exported in exports.values() for note in exported.notes))


def _export_documents(source: Path, name: str, form: Form, out: Path | None, style: str) -> ExportReport:
    answers = list(read_answers(source))
    base = source / "answer.json" if source.is_dir() else source
    if len(answers) == 1:
        targets = [out or base.with_name(base.name.removesuffix(".json").removesuffix(".md") + form.ending)]
    else:
        folder = out or base.with_name(name)
        targets = [folder / f"{n}-{file_name(answer, name)}" for n, answer in enumerate(answers, start=1)]
    for answer, target in zip(answers, targets, strict=True):
        _write(target, export_answer(answer, name, style=style))
    return ExportReport(tuple(targets), ())


def _saved(source: Path) -> list[Answer] | None:
    """The answers of a file of Answer documents; None for a run or a result file."""
    try:
        return None if source.is_dir() else list(read_answers(source))
    except ToulminError:
        return None


def _run_exports(run: Path, name: str, dialect: Dialect, out: Path | None, form: str) -> Iterator[tuple[Path, Piece]]:
    """Each seed's file; `form` is its usual name, with a place for the dataset's."""
    seeds = read_scorable(run)
    for seed in seeds:
        settings = {} if seed.run is None else dict(seed.run.about["settings"])
        answers, items = (a.answer for a in seed.answered), [a.item for a in seed.answered]
        # ALCE's evaluator knows lists by this word in the path.
        dataset = f"-{QAMPARI}" if name == "alce" and QAMPARI in seed.source else ""
        file = _target(seed.place, out, form.format(dataset), several=len(seeds) > 1)
        yield file, export_answers(answers, items, dialect, run_id=seed.place.resolve().name, settings=settings)


def _write(file: Path, data: bytes) -> None:
    make_folder(file.parent)
    replace_file(file, data)


def _target(place: Path, out: Path | None, name: str, *, several: bool) -> Path:
    folder = place if place.is_dir() else place.parent
    if out is None:
        return folder / name
    return out.with_name(f"{out.stem}-{place.name}{out.suffix}") if several else out
