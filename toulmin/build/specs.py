"""Parts by SPEC (`seq2seq:MODEL`, `onnx:FOLDER`, `best`), ours and those of other packages.

A registry lists each name once, with its maker, its settings and one line of help; checks, near names, help texts and
the tables in `docs/commands.md` follow from it. Another package adds a name with an entry point of the registry's
group, for example `[project.entry-points."toulmin.judges"] theirs = "package:make"`. A SPEC such as `./mine.py:Judge`
or `package.module:Judge` names an object of a file or module.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from toulmin.config import Settings, check_table
from toulmin.data import content_id
from toulmin.errors import ModelError, UnknownPart, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from toulmin.driver.kit import Judge, LanguageModel, Reader

T = TypeVar("T")
TORCH: Mapping[str, Any] = {"device": str, "precision": str, "batch_tokens": int, "download": bool}  # settings
# Takes the argument of a SPEC (after the colon), the checked settings of its table, and all settings.
Maker = Callable[[str, dict[str, Any], Settings], Any]


@dataclass(frozen=True, slots=True)
class Spec:
    """One name. `argument` follows the colon: "MODEL" is required, "[FOLDER]" optional, "" none.

    `settings` are the names and types of its table of settings (`seq2seq.device`); None: the part checks them.
    """

    name: str
    summary: str
    make: Maker
    argument: str = ""
    settings: Mapping[str, Any] | None = field(default_factory=dict)

    @property
    def help(self) -> str:
        """One line; without a summary the first line of the part's docstring, which loads the part."""
        return self.summary or (self.make("", {}, Settings()).__doc__ or "").partition("\n")[0]

    @property
    def forms(self) -> tuple[str, ...]:
        optional = self.argument.strip("[]")
        if self.argument != optional:
            return self.name, f"{self.name}:{optional}"
        return (f"{self.name}:{optional}",) if optional else (self.name,)

    def takes(self, colon: str, argument: str) -> bool:
        """Whether a SPEC of this name may continue so."""
        if self.argument.startswith("["):
            return bool(colon) == bool(argument)
        return bool(argument) if self.argument else not colon


class Choice(NamedTuple, Generic[T]):
    """A parsed SPEC."""

    spec: Spec
    argument: str

    def make(self, settings: Settings) -> T:
        """Raises `UsageError` for a wrong setting of its table, and what its maker raises."""
        part: T = self.spec.make(self.argument, table_of(self.spec, settings), settings)
        return part


def table_of(spec: Spec, settings: Settings) -> dict[str, Any]:
    """The checked settings of a name, such as `seq2seq.device`."""
    table = settings.servers.get(spec.name, {})
    return dict(table) if spec.settings is None else check_table(spec.name, table, spec.settings)


class Registry(Generic[T]):
    """The names of one kind of part, of type T.

    `ending` follows the list of names in the error for a wrong one. `adapt` turns another package's entry point into a
    maker. `verb` is the method that a part has; without it a SPEC cannot name code, since it may come from an index or
    a request.
    """

    def __init__(
        self,
        kind: str,
        specs: Iterable[Spec],
        ending: str = "",
        verb: str = "",
        adapt: Callable[[Any], Maker] = lambda maker: lambda argument, table, _: maker(argument, table),
    ) -> None:
        self.kind = kind
        self.group = f"toulmin.{kind}s"
        self._ours = {spec.name: spec for spec in specs}
        self._ending, self._verb = ending, verb
        self._adapt = adapt

    @property
    def specs(self) -> tuple[Spec, ...]:
        """Ours, in the order of help texts."""
        return tuple(self._ours.values())

    @cached_property
    def _entry_points(self) -> Mapping[str, EntryPoint]:
        from importlib.metadata import entry_points  # slow to load, rarely needed

        return {point.name: point for point in entry_points(group=self.group)}

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, those of other packages last."""
        return (*self._ours, *(name for name in self._entry_points if name not in self._ours))

    def find(self, text: str, others: Mapping[str, Spec] | None = None) -> Choice[T]:
        """Finds a SPEC without making the part; `others` are names from the settings.

        Raises `UsageError` for an unknown SPEC, and `ModelError` for a package that does not load.
        """
        name, colon, argument = text.partition(":")
        spec = self._ours.get(name) or (others or {}).get(name) or self._from_package(name)
        if spec is None and self._verb and (code := code_of(self.kind, text)) is not None:
            return Choice(Spec(text, "", partial(self._make_from, code, text)), "")
        if spec is None or not spec.takes(colon, argument):
            raise self.refusal(text, others or {})
        return Choice(spec, argument)

    def refusal(self, text: str, others: Iterable[str] = ()) -> UnknownPart:
        """The error for an unknown SPEC: near names or all of them, and how to bring your own."""
        from difflib import get_close_matches  # only an error needs it

        forms = [form for spec in self.specs for form in spec.forms]
        theirs = [name for name in (*self.names[len(self.specs) :], *others) if name not in forms]
        near = get_close_matches(text, sorted({*forms, *self.names, *others}), n=2)
        listed = f"Known: {', '.join([*forms, *theirs]) or 'none'}{self._ending}."
        hint = f"Did you mean {' or '.join(near)}?" if near else listed
        code = "./FILE.py:NAME or MODULE:NAME, or " if self._verb else ""
        return UnknownPart(
            f"There is no {self.kind} called {text!r}.\n"
            f"{hint}\n"
            f"Bring your own: {code}an entry point of the group {self.group} (docs/python.md)."
        )

    def names_code(self, text: str) -> bool:
        """Whether a SPEC would run code that is in no registry."""
        name, colon, _ = text.partition(":")
        return bool(colon) and name not in self.names

    def _make_from(self, code: Any, text: str, _: str, table: dict[str, Any], settings: Settings) -> Any:
        """Makes a class without arguments; calls a function that is no part like an entry point."""
        try:
            part = code() if isinstance(code, type) else code
            if not hasattr(part, self._verb) and inspect.isfunction(part):
                part = self._adapt(part)("", table, settings)
        except Exception as error:
            raise ModelError(f"The {self.kind} {text!r} does not load: {type(error).__name__}: {error}") from error
        if not hasattr(part, self._verb):
            raise UsageError(f"{text!r} is no {self.kind}: it has no method `{self._verb}`. docs/python.md shows one.")
        return part

    def _from_package(self, name: str) -> Spec | None:
        point = self._entry_points.get(name)
        if point is None:
            return None
        try:
            maker = point.load()
        except Exception as error:
            raise ModelError(
                f"The {self.kind} {name!r} of {point.value} does not load: {type(error).__name__}: {error}"
            ) from error
        help = (inspect.getdoc(maker) or "").partition("\n")[0]
        return Spec(name, help, self._adapt(maker), f"[{self.kind.upper()}]", None)

    def table(self) -> str:
        """Ours as the rows of a Markdown table."""
        return "\n".join(f"| {' or '.join(f'`{form}`' for form in spec.forms)} | {spec.help} |" for spec in self.specs)


def later(place: str, *first: str, **fixed: Any) -> Maker:
    """Imports a class or function (`MODULE:NAME`) when a part is made; a SPEC without argument gives none."""
    module, _, name = place.partition(":")

    def make(argument: str, table: dict[str, Any], settings: Settings) -> Any:
        return getattr(import_module(module), name)(*first, *filter(None, [argument]), **fixed, **table)

    return make


def constant(value: Any) -> Maker:
    return lambda argument, table, settings: value


_CODE = re.compile(r"(?:(?P<file>.+\.py)|(?P<module>[^\W\d]\w*(?:\.\w+)*)):(?P<name>[^\W\d]\w*)")


def code_of(kind: str, text: str) -> Any | None:
    """The object of `FILE.py:NAME` or `MODULE:NAME`; None for other texts and unknown modules.

    Raises `UsageError` for a missing file or name, and `ModelError` if the import fails.
    """
    match = _CODE.fullmatch(text)
    if match is None:
        return None
    package = (match["module"] or "").partition(".")[0]
    if package and package not in sys.modules and find_spec(package) is None:
        return None
    if match["file"] and not Path(match["file"]).expanduser().is_file():
        raise UsageError(f"There is no file {match['file']} that could hold the {kind} {match['name']!r}.")
    try:
        module = import_module(match["module"]) if match["module"] else _import_file(match["file"])
    except Exception as error:
        raise ModelError(f"The {kind} {text!r} does not load: {type(error).__name__}: {error}") from error
    if not hasattr(module, match["name"]):
        known = ", ".join(name for name in vars(module) if not name.startswith("_"))
        raise UsageError(f"{match['file'] or match['module']} has no {match['name']!r}, only {known or 'nothing'}.")
    return getattr(module, match["name"])


def _import_file(name: str) -> ModuleType:
    """Imports the file again only after a change."""
    path = Path(name).expanduser().resolve()
    key = f"{path.stem}_{content_id(str(path), str(path.stat().st_mtime_ns))}"
    if key not in sys.modules:
        spec = spec_from_file_location(key, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[key] = module_from_spec(spec)  # dataclasses look up their module there
        try:
            spec.loader.exec_module(sys.modules[key])
        except BaseException:
            del sys.modules[key]
            raise
    return sys.modules[key]


@dataclass(frozen=True, slots=True)
class Own:
    """A caller's objects, in place of the settings' parts."""

    main: LanguageModel | None = None
    verifier: LanguageModel | None = None
    judge: Judge | None = None
    reader: Reader | None = None
