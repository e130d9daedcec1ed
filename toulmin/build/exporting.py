"""The answers of a run in the formats of other tools, ours and those that other packages bring."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toulmin.build.specs import Registry, Spec, constant
from toulmin.config import Settings
from toulmin.evaluation.run_folder import make_folder, replace_file
from toulmin.evaluation.scores import read_scorable
from toulmin.formats.checks import Dialect
from toulmin.formats.export import DIALECTS, export_answers
from toulmin.metrics.choosing import QAMPARI

_DIALECTS = (Spec(name, dialect.help, constant(dialect)) for name, dialect in DIALECTS.items())
FORMATS: Registry[Dialect] = Registry("format", _DIALECTS)


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The files that an export wrote, and what was cut or left out, in words."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def export(run: Path, name: str, out: Path | None) -> ExportReport:
    """Writes the answers of a run in the format of that name; of several seeds a file for each.

    Without `out` the file is `NAME.json` or `.jsonl` in the run's folder. Raises `UsageError` for an unknown format.
    """
    dialect = FORMATS.find(name).make(Settings())
    seeds = read_scorable(run)
    files: list[Path] = []
    notes: list[str] = []
    for seed in seeds:
        settings = {} if seed.run is None else dict(seed.run.about["settings"])
        answers, items = (a.answer for a in seed.answered), [a.item for a in seed.answered]
        exported = export_answers(answers, items, dialect, run_id=seed.place.resolve().name, settings=settings)
        # By this word in the path ALCE's evaluator knows lists.
        dataset = f"-{QAMPARI}" if name == "alce" and QAMPARI in seed.source else ""
        file_name = f"{name.replace(':', '-')}{dataset}.json{'l' * (dialect.form == 'lines')}"
        file = _target(seed.place, out, file_name, several=len(seeds) > 1)
        make_folder(file.parent)
        replace_file(file, exported.data)
        files.append(file)
        notes.extend(exported.notes)
    return ExportReport(tuple(files), tuple(notes))


def _target(place: Path, out: Path | None, name: str, *, several: bool) -> Path:
    folder = place if place.is_dir() else place.parent
    if out is None:
        return folder / name
    return out.with_name(f"{out.stem}-{place.name}{out.suffix}") if several else out
