"""The words of a reply without what surrounds them: `unwrap` is applied to every reply.

Removed in this order: thinking; a chat template's tokens and all after the first end of turn; enclosing tags; JSON;
HTML; code fences; tables, whose rows become bullets; the bars of quoted lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from toulmin.parsing.lines import last_match

# ---------------------------------------------------------------- replies without thinking


_NAMES = r"think|thinking|thoughts?|reasoning|scratchpad|seed:think|tool_call|tool_code|function_call"
_OPEN = rf"<(?:{_NAMES})>|\[THINK\]|◁think▷|<\|(?:START_THINKING|begin_of_thought)\|>"
_CLOSE = rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|(?:END_THINKING|end_of_thought)\|>"
_MARK = re.compile(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)
# Marks that only wrap the answer itself.
_WRAPPING = re.compile(r"<\|(?:START_RESPONSE|END_RESPONSE|begin_of_solution|end_of_solution)\|>", re.IGNORECASE)

_CHANNEL = re.compile(r"<\|channel\|>\s{0,9}(?P<name>\w{1,40})[^<]{0,100}<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
# What remains of the channels if a server removed their marks.
_BARE_CHANNELS = re.compile(r"\s*analysis(?=[A-Z\W]).*?assistantfinal", re.DOTALL)


def without_thinking(text: str) -> str:
    """A text without marks of thinking is returned unchanged.

    An unclosed mark removes all that follows (the reply was cut off), an unopened one all that precedes (the chat
    template opened it). Of channels (gpt-oss) only the last final one counts. A mark in back quotes is text.
    """
    answer = _final_channel(text)
    marks = [mark for mark in _MARK.finditer(answer) if not _is_spoken_of(mark)]
    if marks:
        answer = _WRAPPING.sub("", _outside(marks, answer))
    return text if answer == text else answer.strip()


def _is_spoken_of(mark: re.Match[str]) -> bool:
    return mark.string[mark.start() - 1 : mark.start()] == "`" and mark.string.startswith("`", mark.end())


def _outside(marks: Sequence[re.Match[str]], text: str) -> str:
    pieces: list[str] = []
    at, is_inside = 0, False
    for mark in marks:
        if mark["open"]:
            pieces += [] if is_inside else [text[at : mark.start()]]
        elif not is_inside:
            pieces = []
        at, is_inside = mark.end(), mark["open"] is not None
    return "".join(pieces) if is_inside else "".join([*pieces, text[at:]])


def _final_channel(text: str) -> str:
    channels = list(_CHANNEL.finditer(text))
    if not channels:
        bare = _BARE_CHANNELS.match(text)
        return text[bare.end() :] if bare else text
    finals = [channel for channel in channels if channel["name"] == "final"]
    return _CHANNEL_END.split(text[finals[-1].end() :], maxsplit=1)[0] if finals else ""


# ---------------------------------------------------------------- JSON as words


class Shape(NamedTuple):
    """The names that a prompt's result may have in an object, likeliest first; `titled`: parts have titles and
    texts.
    """

    names: tuple[str, ...]
    titled: bool = False


class _Field(NamedTuple):
    key: str
    word: str
    value: Any


_START = re.compile(r"^[^\S\n]{0,80}(?=\{\s{0,80}\"|\[\s{0,80}[\"{])", re.MULTILINE)
_TALK = 400  # characters around JSON that may be courtesy
_REST_OF_LINE = re.compile(r"[^\S\n]*(?:`{3,}[^\S\n]*)?(?:\n|$)")
_KEY_WORD = re.compile(r"[A-Za-z][a-z]*|[^\W\d_]+")
_LABELS = re.compile(r"\W*(?:[a-z]+\W*)?\d{1,4}(?:\W+\d{1,4})*\W*", re.IGNORECASE)
_CITING = frozenset("citation cite source reference ref passage document doc evidence".split())
_ASIDE = frozenset(
    "reasoning reason explanation thought thinking analysis rationale justification why purpose confidence score"
    " question query topic draft change note id index start end".split()
)
_TITLE = frozenset("title name heading aspect".split())
_NAME_OF_SOURCE = ("id", "number", "index", "label", "citation", "passage", "document", "source")


def as_words(text: str, shape: Shape) -> str:
    """The text with its JSON (lines that begin with `{"`, `["` or `[{`) put into words.

    An object becomes its main value, with cited labels as marks after it, a list becomes bullets; reasons, scores
    and the like are left out. JSON that was cut off counts as far as it goes; an example in a longer reply stays.
    """
    pieces: list[str] = []
    at = wrapped = 0
    while start := _START.search(text, at):
        reading = _read_json(text, start.end(), shape)
        if reading is None:
            break
        pieces += [text[at : start.start()], reading.words]
        at = reading.end
        wrapped += reading.end - start.end()
    return "".join([*pieces, text[at:]]) if len(text) - wrapped <= max(_TALK, wrapped) else text


class _Reading(NamedTuple):
    words: str
    end: int


def _read_json(text: str, start: int, shape: Shape) -> _Reading | None:
    try:
        value, end = _decode(text, start)
        is_whole = _REST_OF_LINE.match(text, end) is not None
        return _Reading(_encodable("\n".join(_lines(value, shape))), end) if is_whole else None
    except (ValueError, RecursionError):
        return None


def _decode(text: str, start: int) -> tuple[Any, int]:
    """The value that begins there, and where it ends. Raises `ValueError` if it is not JSON."""
    with suppress(ValueError):
        return json.JSONDecoder(strict=False).raw_decode(text, start)
    cut_off = _encodable(text[start:]).rstrip("` \n")
    import pydantic_core  # slow to load, and only needed for JSON that was cut off

    return pydantic_core.from_json(cut_off, allow_partial="trailing-strings"), len(text)


def _encodable(text: str) -> str:
    """Replaces lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _lines(value: Any, shape: Shape) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _of_object(value, shape)
    elif isinstance(value, list):
        bullets = (" ".join(_lines(item, shape)) for item in value)
        yield from (f"- {words}" for words in bullets if words.strip())
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _of_object(record: Mapping[str, Any], shape: Shape) -> Iterator[str]:
    fields = [_Field(key.replace("_", " "), _last_word(key), value) for key, value in record.items()]
    marks = "".join(f"[{n}]" for field in fields if field.word in _CITING for n in _labels(field.value))
    fields = [field for field in fields if field.word not in _CITING or not (marks or _labels(field.value))]
    lines = list(_result(fields, shape, bool(marks)))
    yield from lines[:-1]
    yield f"{lines[-1]} {marks}".strip() if lines else marks


def _last_word(key: str) -> str:
    """Such as "answer" for "final_answers" and "correctedAnswer"."""
    words = _KEY_WORD.findall(key)
    return words[-1].lower().removesuffix("s") if words else ""


def _result(fields: list[_Field], shape: Shape, is_cited: bool) -> Iterator[str]:
    present = [field for field in fields if field.value is not None]
    title = next((f for f in present if f.word in _TITLE and isinstance(f.value, str)), None)
    texts = [field for field in present if isinstance(field.value, str | list | dict) and field is not title]
    best = next((name for name in shape.names if any(field.word == name for field in texts)), None)
    if title is not None and shape.titled:
        yield f"{title.value}: {' '.join(line for field in texts for line in _lines(field.value, shape))}"
    elif best is not None:
        yield from (line for field in texts if field.word == best for line in _lines(field.value, shape))
    elif not any(field.word in shape.names and field.value is None for field in fields):
        yield from _each(_without_asides(present, is_cited), shape)


def _without_asides(fields: list[_Field], is_cited: bool) -> list[_Field]:
    main = [field for field in fields if field.word not in _ASIDE]
    return main if main or is_cited else fields


def _each(fields: list[_Field], shape: Shape) -> Iterator[str]:
    for field in fields:
        if isinstance(field.value, bool):
            yield field.key if field.value else f"not {field.key}"
            continue
        lines = list(_lines(field.value, shape))
        if len(fields) == 1 and not (shape.titled and isinstance(field.value, str)):
            yield from lines
        elif isinstance(field.value, list):
            yield from [f"{field.key}:", *lines]
        else:
            yield f"{field.key}: {' '.join(lines)}"


def _labels(value: Any) -> list[int]:
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    if isinstance(value, str):
        return [int(n) for n in re.findall(r"\d+", value)] if _LABELS.fullmatch(value) else []
    if isinstance(value, list):
        return [n for item in value for n in _labels(item)]
    if isinstance(value, dict):
        return next((numbers for name in _NAME_OF_SOURCE if (numbers := _labels(value.get(name)))), [])
    return []


# ---------------------------------------------------------------- tags, tables and turns


_END_OF_TURN = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|end|end_of_text|endoftext|end_of_turn|return)\|>|</s>(?=\s*(?:\Z|<))"
    r"|<end_of_turn>|<eos>"
)
_TOKEN = re.compile(r"<\|im_start\|>(?:assistant\b)?|<\|\w{1,40}\|>|<(?:s|bos|start_of_turn)>|\[cite_(?:start|end)\]")
_RESULT = re.compile(
    r"^[^\S\n]{0,9}<(?P<name>(?:\w{1,30}_)?(?:answer|response|output|solution|result))>", re.IGNORECASE | re.MULTILINE
)
_FENCE = re.compile(r"^[^\S\n]{0,9}(?:`{3,}|~{3,})[^\S\n]*\w{0,20}[^\S\n]*$\n?", re.MULTILINE)
_QUOTE_BAR = re.compile(r"^[^\S\n]{0,3}(?:>[^\S\n]?){1,3}", re.MULTILINE)

_INLINE = "b|strong|i|em|u|span|mark|small|code|a|font"
_BREAKING = "p|div|br|ul|ol|section|article|blockquote|html|body|hr|main"
_ATTRIBUTES = r"(?:\s[^<>]{0,200}=[^<>]{0,200})?"
_RAISED = re.compile(r"<sup>([\d,; ]{1,40})</sup>", re.IGNORECASE)
_TAG = re.compile(
    rf"<(?:(?P<inline>/?(?:{_INLINE}|sup))|(?P<item>li)|(?P<heading>h[1-6])"
    rf"|(?P<breaking>/?(?:{_BREAKING})|/li|/h[1-6])){_ATTRIBUTES}\s?/?>",
    re.IGNORECASE,
)
_TAG_AT_HEAD = re.compile(rf"\s*<(?P<name>[A-Za-z]\w{{0,30}}){_ATTRIBUTES}>")
_DEEPEST = 5
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

_ROW = re.compile(r"[^\S\n]{0,9}\|(?P<cells>[^\n]*)\|[^\S\n]*")
_RULE_CELL = re.compile(r"\s*:?-{1,200}:?\s*")
_ONLY_MARKS = re.compile(r"[\s,;]*(?:[\[【［][^\[\]【】［］]{1,40}[\]】］][\s,;]*)+")


def unwrap(text: str, shape: Shape) -> str:
    """The words of a reply; `shape` says what JSON may call them. Never raises."""
    words = _within_tags(_within_result(_one_turn(without_thinking(text))))
    words = _FENCE.sub("", _without_html(as_words(words, shape)))
    if "|" in words:
        words = "\n".join(_without_rows(words.split("\n"), ": " if shape.titled else ", "))
    return _QUOTE_BAR.sub("", words)


def _one_turn(text: str) -> str:
    turns = (_TOKEN.sub("", turn) for turn in _END_OF_TURN.split(text))
    return next((turn for turn in turns if turn.strip()), "")


def _within_result(text: str) -> str:
    """Unclosed tags reach to the end."""
    opened = last_match(_RESULT, text)
    return text[opened.end() :].split(f"</{opened['name']}>", 1)[0] if opened else text


def _within_tags(text: str) -> str:
    for _ in range(_DEEPEST):
        opened = _TAG_AT_HEAD.match(text)
        if opened is None or not text.rstrip().endswith(f"</{opened['name']}>"):
            break
        text = re.sub(rf"</?{re.escape(opened['name'])}{_ATTRIBUTES}>", "\n", text)
    return text


def _without_html(text: str) -> str:
    return _TAG.sub(_in_markdown, _RAISED.sub(lambda m: m[1].translate(_SUPERSCRIPT), text)) if "<" in text else text


def _in_markdown(tag: re.Match[str]) -> str:
    if tag["inline"]:
        return ""
    return "\n- " if tag["item"] else "\n# " if tag["heading"] else "\n"


def _without_rows(lines: Sequence[str], joint: str) -> Iterator[str]:
    """Table rows become bullets; the row above the rule and the rule are dropped."""
    rows = [_cells(line) for line in [*lines, ""]]
    is_rule = [bool(row) and all(map(_RULE_CELL.fullmatch, row)) for row in rows]
    in_table, n = False, 0
    for i, line in enumerate(lines):
        in_table = is_rule[i] or (in_table and bool(rows[i]))
        n = 0 if is_rule[i] or not in_table else n + 1
        if not in_table and not is_rule[i + 1]:
            yield line
        elif in_table and not is_rule[i]:
            yield f"- {_join_cells(rows[i], n, joint)}"


def _cells(line: str) -> list[str]:
    row = _ROW.fullmatch(line)
    return row["cells"].split("|") if row else []


def _join_cells(cells: Sequence[str], n: int, joint: str) -> str:
    words = [cell.strip() for cell in cells if cell.strip()]
    words = words[1:] if len(words) > 1 and words[0].rstrip(".") == str(n) else words
    marks = [cell for cell in words if _ONLY_MARKS.fullmatch(cell)]
    return " ".join([joint.join(cell for cell in words if cell not in marks), *marks])
