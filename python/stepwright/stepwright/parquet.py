"""Reads the lengths of documents from Parquet files, for `stepwright.lengths`."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from .errors import InputError

if TYPE_CHECKING:
    import pyarrow

_ROWS = 4_096  # In memory at a time.
_BUFFER = 4 << 20  # Of a column, read on as it is used.
_LONGEST = 1 << 40
_MAGIC = b"PAR1"


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether a file is one, by its name or its content. Of a pipe nothing is read: its bytes come
    once."""
    if os.fspath(path).endswith(".parquet"):
        return True
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def lengths_json(
    path: str | os.PathLike[str], field: str | None, characters_per_token: float | None
) -> tuple[str | None, int]:
    """A file of lengths (docs/formats.md, "Documents") as text, if there are documents with tokens,
    and how many have none.

    Reads the column some rows at a time. A list is token ids, a whole number a length, text is
    counted in characters, and so are the turns of a conversation. Dots of the field lead into
    structs.

    Raises:
        InputError: The file cannot be read, there is no such column, or something else in it.
    """
    name = os.fspath(path)
    if not field:
        raise InputError(f"{name}: field names what holds the length of a document")
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as missing:
        raise InputError(
            f"{name}: is Parquet, which pyarrow reads: pip install pyarrow"
        ) from missing
    try:
        counts = _counts(name, field, characters_per_token)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{name}: cannot be read: {error}") from error
    empty = counts.pop(0, 0)
    for length in (min(counts, default=1), max(counts, default=1)):
        if not 0 < length <= _LONGEST:
            raise InputError(
                f"{name}: column {field!r} must hold lengths from 0 to {_LONGEST}; one is {length}"
            )
    if not counts:
        return None, empty
    histogram = [list(pair) for pair in sorted(counts.items())]
    return json.dumps({"stepwright": "lengths/1", "histogram": histogram}), empty


def _counts(name: str, field: str, characters_per_token: float | None) -> Counter[int]:
    import pyarrow.compute
    import pyarrow.parquet

    counts: Counter[int] = Counter()
    with pyarrow.parquet.ParquetFile(name, buffer_size=_BUFFER, pre_buffer=False) as file:
        names = file.schema_arrow.names
        first, *inner = [field] if field in names else field.split(".")
        if first not in names:
            raise InputError(f"{name}: has no column {field!r} (present: {', '.join(names)})")
        for batch in file.iter_batches(batch_size=_ROWS, columns=[field]):
            if not batch.num_columns:
                raise InputError(f"{name}: has no column {field!r} within {first!r}")
            column = batch.column(0)
            for key in inner:
                if not pyarrow.types.is_struct(column.type):
                    raise InputError(f"{name}: {first!r} is no struct, which {field!r} leads into")
                column = pyarrow.compute.struct_field(column, key)
            counts.update(_lengths(column, name, field, characters_per_token).to_pylist())
    return counts


def _lengths(
    column: pyarrow.Array, path: str, field: str, characters_per_token: float | None
) -> Any:
    import pyarrow
    import pyarrow.compute

    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if column.null_count:
        raise InputError(f"{path}: column {field!r} has rows without a value")
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        if types.is_integer(kind.value_type):
            return pyarrow.compute.list_value_length(column)
        keys = _turn_keys(kind.value_type)
        if keys:
            rate = _rate(path, field, characters_per_token)
            characters = [_characters(turns, keys) for turns in column.to_pylist()]
            return pyarrow.array([math.ceil(n / rate) for n in characters])
    if types.is_integer(kind):
        return column
    if types.is_string(kind) or types.is_large_string(kind):
        rate = _rate(path, field, characters_per_token)
        characters = pyarrow.compute.cast(pyarrow.compute.utf8_length(column), pyarrow.float64())
        tokens = pyarrow.compute.ceil(pyarrow.compute.divide(characters, rate))
        return pyarrow.compute.cast(tokens, pyarrow.int64())
    raise InputError(
        f"{path}: column {field!r} must be lists of token ids or of turns, lengths, or text, "
        f"not {kind}"
    )


def _rate(path: str, field: str, characters_per_token: float | None) -> float:
    """Characters of a token, which text needs."""
    if characters_per_token is None:
        raise InputError(
            f"{path}: column {field!r} is text: characters_per_token says how long its tokens are"
        )
    if not 0.01 <= characters_per_token <= 1000:
        raise InputError(
            "characters_per_token: must be a number from 0.01 to 1000; "
            f"it is {characters_per_token}"
        )
    return characters_per_token


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
