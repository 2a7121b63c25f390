"""Lengths of the documents of Parquet files, for `stepwright.lengths`."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from .errors import InputError

if TYPE_CHECKING:
    import pyarrow

_ROWS = 65_536  # In memory at a time.


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether a file is one, by its name."""
    return os.fspath(path).endswith(".parquet")


def lengths_json(
    path: str | os.PathLike[str], field: str, characters_per_token: float | None
) -> str:
    """A file of lengths (docs/formats.md, "Documents") as text.

    Reads the column some rows at a time. A list is token ids, a whole number a length, text is
    counted in characters, and so are the turns of a conversation.

    Raises:
        InputError: There is no such column, or something else in it.
    """
    import pyarrow.parquet

    counts: Counter[int] = Counter()
    with pyarrow.parquet.ParquetFile(os.fspath(path)) as file:
        if field not in file.schema_arrow.names:
            names = ", ".join(file.schema_arrow.names)
            raise InputError(f"{os.fspath(path)}: has no column {field!r} (present: {names})")
        for batch in file.iter_batches(batch_size=_ROWS, columns=[field]):
            lengths = _lengths(batch.column(0), os.fspath(path), field, characters_per_token)
            counts.update(length for length in lengths.to_pylist() if length)
    return json.dumps(
        {"stepwright": "lengths/1", "histogram": [list(pair) for pair in sorted(counts.items())]}
    )


def _lengths(
    column: pyarrow.Array, path: str, field: str, characters_per_token: float | None
) -> Any:
    import pyarrow
    import pyarrow.compute

    kind = column.type
    if column.null_count:
        raise InputError(f"{path}: column {field!r} has rows without a value")
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        if pyarrow.types.is_integer(kind.value_type):
            return pyarrow.compute.list_value_length(column)
        keys = _turn_keys(kind.value_type)
        if keys:
            if characters_per_token is None:
                raise InputError(_text_needs_rate(path, field))
            characters = [_characters(turns, keys) for turns in column.to_pylist()]
            return pyarrow.array([math.ceil(n / characters_per_token) for n in characters])
    if pyarrow.types.is_integer(kind):
        return column
    if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
        if characters_per_token is None:
            raise InputError(_text_needs_rate(path, field))
        characters = pyarrow.compute.cast(pyarrow.compute.utf8_length(column), pyarrow.float64())
        tokens = pyarrow.compute.ceil(pyarrow.compute.divide(characters, characters_per_token))
        return pyarrow.compute.cast(tokens, pyarrow.int64())
    raise InputError(
        f"{path}: column {field!r} must be lists of token ids or of turns, lengths, or text, "
        f"not {kind}"
    )


def _text_needs_rate(path: str, field: str) -> str:
    return f"{path}: column {field!r} is text: characters_per_token says how long its tokens are"


def _turn_keys(kind: pyarrow.DataType) -> list[str]:
    """Under which keys turns of a conversation have their text (OpenAI, ShareGPT)."""
    import pyarrow

    if not pyarrow.types.is_struct(kind):
        return []
    names = [kind.field(i).name for i in range(kind.num_fields)]
    return [name for name in ("content", "value") if name in names]


def _characters(turns: list[dict[str, Any]], keys: list[str]) -> int:
    """Of the text of turns, also in parts; what is no text has none."""
    count = 0
    for turn in turns:
        for content in (turn[key] for key in keys):
            if isinstance(content, list):
                content = "".join(part.get("text") or "" for part in content)
            count += len(content or "")
    return count
