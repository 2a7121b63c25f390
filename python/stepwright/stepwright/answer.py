"""The base class of all answers: built from JSON, shown as a table or in a notebook."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from .documents import Plan

if TYPE_CHECKING:
    import pandas

SomePart = TypeVar("SomePart", bound="Part")
SomeAnswer = TypeVar("SomeAnswer", bound="Answer")
SomePlan = TypeVar("SomePlan")

# What `_repr_html_` shows of a table at most.
MOST_ROWS = 30
MOST_COLUMNS = 12


class Part:
    """A mapping of an answer as a dataclass."""

    @classmethod
    def from_json(cls: type[SomePart], value: dict[str, Any]) -> SomePart:
        """Makes it from what `json.loads` gives. A key that it does not have is an error."""
        part: SomePart = _decoder(typing.cast(Any, cls))(value)
        return part


class Answer(Part):
    """What a command answers."""

    table: ClassVar[str] = ""
    """The list that `frame` makes a table of; empty: it has none."""

    @property
    def text(self) -> str:
        """The JSON that the command prints with `--json`, byte for byte."""
        text: str = self.__dict__["_text"]
        return text

    @classmethod
    def from_text(cls: type[SomeAnswer], text: str) -> SomeAnswer:
        """Makes it from what `--json` printed."""
        answer = cls.from_json(json.loads(text))
        answer.__dict__["_text"] = text
        return answer

    def records(self, table: str = "") -> list[dict[str, Any]]:
        """The rows of one of its lists, keys of mappings below joined with dots."""
        name = table or self.table
        return [_flat(row) for row in getattr(self, name) or ()] if name else []

    def frame(self, table: str = "") -> pandas.DataFrame:
        """The same as a table of pandas, which has to be installed."""
        import pandas

        return pandas.DataFrame.from_records(self.records(table))

    def _repr_html_(self) -> str:
        return f"{_list_html(_flat(self, deep=False))}{_table_html(self.records())}"


class TuningAnswer(Answer, Generic[SomePlan]):
    """What a search can tell besides its lists."""

    plans: list[SomePlan]

    @property
    def best(self) -> SomePlan:
        """The plan to train with."""
        return self.plans[0]


def _flat(part: Any, prefix: str = "", *, deep: bool = True) -> dict[str, Any]:
    """The values of a part; of what is below it those that are no lists, unless not `deep`."""
    row: dict[str, Any] = {}
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if dataclasses.is_dataclass(value) and deep:
            row |= _flat(value, f"{prefix}{field.name}.")
        elif isinstance(value, Plan):
            row[prefix + field.name] = value.code
        elif isinstance(value, dict) and deep:
            row |= {f"{prefix}{field.name}.{key}": each for key, each in value.items()}
        elif deep or isinstance(value, (str, int, float)):
            row[prefix + field.name] = value
    return {key: value for key, value in row.items() if value is not None or deep}


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return html.escape("" if value is None else str(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _list_html(values: dict[str, Any]) -> str:
    rows = (f"<tr><th>{html.escape(k)}</th><td>{_cell(v)}</td></tr>" for k, v in values.items())
    return f"<table>{''.join(rows)}</table>"


def _table_html(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name in row))[:MOST_COLUMNS]
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(row.get(name))}</td>' for name in names)}</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<p>{len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><tr>{head}</tr>{body}</table>{more}"


Decoder = Callable[[Any], Any]


@functools.cache
def _decoder(kind: Any) -> Decoder:
    """What makes a value of a type from JSON."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _optional(_decoder(next(k for k in inner if k is not type(None))), inner)
    if origin is list:
        each = _decoder(inner[0])
        return lambda values: [each(value) for value in values]
    if origin is dict:
        each = _decoder(inner[1])
        return lambda values: {key: each(value) for key, value in values.items()}
    if kind is Plan:
        return Plan
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _part_decoder(kind)
    return lambda value: value


def _optional(decode: Decoder, kinds: tuple[Any, ...]) -> Decoder:
    if sum(kind is not type(None) for kind in kinds) > 1:
        return lambda value: value  # numbers or words
    return lambda value: None if value is None else decode(value)


def _part_decoder(kind: type[Any]) -> Decoder:
    hints = typing.get_type_hints(kind)
    keys = {
        field.metadata.get("key", field.name): (field.name, _decoder(hints[field.name]))
        for field in dataclasses.fields(kind)
    }

    def decode(values: dict[str, Any]) -> Any:
        made = {keys[key][0]: keys[key][1](value) for key, value in values.items()}
        return kind(**made)

    return decode
