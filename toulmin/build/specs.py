"""What can be named by a SPEC (`seq2seq:MODEL`, `onnx:FOLDER`, `best`): ours, and what other packages bring.

A registry lists each name once, with its maker, its settings and one line of help. The check of a name, the near names
of a wrong one, the help texts and the table in `docs/commands.md` follow from it. Another package adds a name with an
entry point of the registry's group, for example `[project.entry-points."toulmin.judges"] theirs = "package:make"`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from toulmin.config import Settings, check_table
from toulmin.errors import ModelError, UsageError, unknown_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from toulmin.driver.kit import Judge, LanguageModel, Reader

T = TypeVar("T")
# From what follows the colon of a SPEC, the checked settings of its table, and all settings, to the part.
Maker = Callable[[str, dict[str, Any], Settings], Any]


@dataclass(frozen=True, slots=True)
class Spec:
    """One name. `argument` says what follows the colon: "MODEL" must, "[FOLDER]" may, "" nothing does.

    `settings` are the names and types that its table of settings may hold (`seq2seq.device`); None: it checks them.
    """

    name: str
    summary: str
    make: Maker
    argument: str = ""
    settings: Mapping[str, Any] | None = field(default_factory=dict)

    @property
    def help(self) -> str:
        """One line; without a summary the first one of the part's docstring, which loads the part."""
        return self.summary or (self.make("", {}, Settings()).__doc__ or "").partition("\n")[0]

    @property
    def forms(self) -> tuple[str, ...]:
        optional = self.argument.strip("[]")
        if self.argument != optional:
            return self.name, f"{self.name}:{optional}"
        return (f"{self.name}:{optional}",) if optional else (self.name,)

    def takes(self, colon: str, argument: str) -> bool:
        """Whether a SPEC of this name may go on so."""
        if self.argument.startswith("["):
            return bool(colon) == bool(argument)
        return bool(argument) if self.argument else not colon


class Choice(NamedTuple, Generic[T]):
    """A SPEC that was read: what it names, and what follows its colon."""

    spec: Spec
    argument: str

    def make(self, settings: Settings) -> T:
        """The part. Raises `UsageError` for a setting of its table that cannot be, and what its maker raises."""
        part: T = self.spec.make(self.argument, table_of(self.spec, settings), settings)
        return part


def table_of(spec: Spec, settings: Settings) -> dict[str, Any]:
    """The settings of a name, such as `seq2seq.device`, each of a name and a type that it has."""
    table = settings.servers.get(spec.name, {})
    return dict(table) if spec.settings is None else check_table(spec.name, table, spec.settings)


class Registry(Generic[T]):
    """The names of one kind of part, of type T.

    `ending` follows the list of forms where a wrong name is refused. `adapt` makes a maker of what another package's
    entry point gives: usually a function of what follows the colon and of the name's own table of settings.
    """

    def __init__(
        self,
        kind: str,
        specs: Iterable[Spec],
        ending: str = "",
        adapt: Callable[[Any], Maker] = lambda maker: lambda argument, table, _: maker(argument, table),
    ) -> None:
        self.kind = kind
        self.group = f"toulmin.{kind}s"
        self._ours = {spec.name: spec for spec in specs}
        self._ending = ending
        self._adapt = adapt

    @property
    def specs(self) -> tuple[Spec, ...]:
        """Ours, in the order in which people are told of them."""
        return tuple(self._ours.values())

    @cached_property
    def _entry_points(self) -> Mapping[str, EntryPoint]:
        from importlib.metadata import entry_points  # slow to load, and seldom asked

        return {point.name: point for point in entry_points(group=self.group)}

    @property
    def names(self) -> tuple[str, ...]:
        """Every name, those of other packages last; reading those costs some milliseconds, once."""
        return (*self._ours, *(name for name in self._entry_points if name not in self._ours))

    @property
    def forms(self) -> str:
        every = [form for spec in self.specs for form in spec.forms]
        return f"{', '.join(every)}{self._ending}" if self._ending else f"{', '.join(every[:-1])} or {every[-1]}"

    def find(self, text: str, others: Mapping[str, Spec] | None = None) -> Choice[T]:
        """What a SPEC names; nothing is made. `others` are names of the settings' own.

        Raises `UsageError` for a SPEC that names nothing, and `ModelError` for another package that does not load.
        """
        name, colon, argument = text.partition(":")
        spec = self._ours.get(name) or (others or {}).get(name) or self._from_package(name)
        if spec is None or not spec.takes(colon, argument):
            raise self.refusal(text, others or {})
        return Choice(spec, argument)

    def refusal(self, text: str, others: Iterable[str] = ()) -> UsageError:
        """What is said of a SPEC that names nothing: near names, and the forms that there are."""
        forms = [form for spec in self.specs for form in spec.forms]
        near = unknown_name(self.kind, text, {*forms, *self.names, *others})
        if not any(spec.argument for spec in self.specs):
            return near
        return UsageError(f"{near} {article(self.kind)} is named as {self.forms}.")

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


def constant(value: Any) -> Maker:
    return lambda argument, table, settings: value


def article(noun: str) -> str:
    """The noun after "A" or "An", to begin a sentence."""
    return f"{'An' if noun[0] in 'aeiou' else 'A'} {noun}"


@dataclass(frozen=True, slots=True)
class Own:
    """A caller's own objects, each in place of the part that the settings name."""

    main: LanguageModel | None = None
    verifier: LanguageModel | None = None
    judge: Judge | None = None
    reader: Reader | None = None
