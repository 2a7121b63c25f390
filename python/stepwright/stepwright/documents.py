"""Jobs and plans as mappings, with the same keys as their files (docs/formats.md)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from . import _planner
from .errors import InputError, error_of
from .files import replace_text

AnyDocument = TypeVar("AnyDocument", bound="Document")

_MOST_BYTES = 64 << 20  # As of any file of a job or plan.


class Document(Mapping[str, Any]):
    """A job or plan that was read and found good. It never changes; `with_` makes another.

    Paths inside are relative to `folder`: that of the file, or the current one.
    """

    kind: ClassVar[str]
    version: ClassVar[str]

    def __init__(
        self, mapping: Mapping[str, Any], *, name: str = "", folder: str | Path | None = None
    ) -> None:
        if not isinstance(mapping, Mapping):
            raise TypeError(
                f"a {self.kind} must be a path, a mapping or a {type(self).__name__}, "
                f"not {type(mapping).__name__}"
            )
        content = {"stepwright": self.version, **copy.deepcopy(dict(mapping))}
        self._set(json.dumps(content), name or f"<{self.kind}>", str(folder or Path.cwd()))

    def _set(self, text: str, name: str, folder: str) -> None:
        kind, content, title, failure = _planner.read(text, name, folder)
        if failure:
            raise error_of(failure)
        if kind != self.kind:
            raise InputError(f"{name}: is a {kind}, and a {self.kind} is needed")
        self.name, self.text, self.folder, self.title = name, text, folder, title
        self._content = json.loads(content)

    def __getitem__(self, key: str) -> Any:
        return copy.deepcopy(self._content[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __hash__(self) -> int:
        return hash(json.dumps(self._content, sort_keys=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.title})"

    def with_(self: AnyDocument, **changes: Any) -> AnyDocument:
        """The same with keys replaced, and mappings below them merged.

        >>> job.with_(batch={"sequences": 256})  # the length stays
        """
        content = copy.deepcopy(self._content)
        _merge(content, changes)
        return type(self)(content, name=self.name, folder=self.folder)

    def save(self, path: str | Path) -> None:
        """Writes the file whole or not at all: YAML, or JSON where the name ends in .json."""
        text = json.dumps(self._content, indent=2) + "\n"
        if Path(path).suffix != ".json":
            text = _planner.to_yaml(text)
        replace_text(path, text)


class Job(Document):
    """A model, a cluster and a batch: what `tune` takes."""

    kind = "job"
    version = "job/2"


class Plan(Document):
    """How a job is split and scheduled: what `predict`, `traffic` and `memory` take."""

    kind = "plan"
    version = "plan/2"

    @property
    def code(self) -> str:
        """As short as a table wants it: "tp8+sp pp4x2 dp2 mb1 zero1 recompute:full"."""
        return self.title


def load(path: str | Path) -> Job | Plan:
    """Reads the file of a job or plan (YAML or JSON).

    Raises `InputError`, which names file, line, field and value, and `UnsupportedError`.
    """
    content, failure = _planner.read_file(str(path), _MOST_BYTES)
    if failure:
        raise error_of(failure)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        unread = InputError(f"{path}: is not UTF-8")
        unread.file = str(path)
        raise unread from error
    kind, _, _, failure = _planner.read(text, str(path), str(Path(path).parent))
    if failure:
        raise error_of(failure)
    document: Job | Plan = Plan.__new__(Plan) if kind == "plan" else Job.__new__(Job)
    document._set(text, str(path), str(Path(path).parent))
    return document


def _merge(content: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(content.get(key), dict):
            _merge(content[key], value)
        else:
            content[key] = value
