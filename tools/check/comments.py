"""Reads the `///` comments of C++ sources, for checks of their words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

TREES = ("stepwright", "tests", "bench", "python", "web/engine")
SUFFIXES = (".h", ".cpp", ".cu")

LINE = re.compile(
    r"^(?P<code>(?:[^\"/]|/(?!/)|\"(?:\\.|[^\"\\])*\")*)///(?P<behind><?) ?(?P<text>.*)$"
)


@dataclass(frozen=True)
class Comment:
    """A comment, its lines joined, and the line of code that it is about."""

    path: str
    line: int
    text: str
    code: str
    behind: bool
    """True for `///<`, which stands behind its code."""


def comments_in(path: str, text: str) -> Iterator[Comment]:
    """The comments of a source, in order."""
    begun: Comment | None = None
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        match = LINE.match(line)
        code = match["code"].strip() if match else line.strip()
        if begun and match and not code and bool(match["behind"]) == begun.behind:
            begun = replace(begun, text=f"{begun.text} {match['text'].strip()}")
            continue
        if begun:
            yield begun if begun.behind else replace(begun, code=code)
        behind = match is not None and bool(match["behind"])
        begun = Comment(path, number, match["text"].strip(), code, behind) if match else None


def all_comments(root: Path) -> Iterator[Comment]:
    """The comments of every C++ source of the repository."""
    for tree in TREES:
        for path in sorted((root / tree).rglob("*")):
            if path.suffix in SUFFIXES:
                name = str(path.relative_to(root))
                yield from comments_in(name, path.read_text(encoding="utf-8"))
