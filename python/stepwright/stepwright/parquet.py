"""Lengths of the documents of Parquet files, for `stepwright.lengths`."""

from __future__ import annotations

import json
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
    counted in characters.

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
        return pyarrow.compute.list_value_length(column)
    if pyarrow.types.is_integer(kind):
        return column
    if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
        if characters_per_token is None:
            raise InputError(
                f"{path}: column {field!r} is text: characters_per_token says how long its tokens "
                "are"
            )
        characters = pyarrow.compute.cast(pyarrow.compute.utf8_length(column), pyarrow.float64())
        tokens = pyarrow.compute.ceil(pyarrow.compute.divide(characters, characters_per_token))
        return pyarrow.compute.cast(tokens, pyarrow.int64())
    raise InputError(
        f"{path}: column {field!r} must be lists of token ids, lengths, or text, not {kind}"
    )
