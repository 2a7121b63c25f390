"""Draws words of the repository at random, as a page for a reader who has not seen the code.

Sixty `///` comments, twenty names, thirty errors and notes, twenty sentences of documents. The
reader says of each whether it was understood at the first reading; the key says where each stands.
The same seed draws the same words of the same tree.

    words_sample.py SEED [-o PAGE.md] [--key KEY.md]
"""

import argparse
import functools
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from check_words import GOLDENS, documents, notes_in
from comments import Comment, all_comments

ROOT = Path(__file__).resolve().parents[2]
ERROR = re.compile(r"^stepwright: (?:error|warning): (.+)$")
DECLARED = re.compile(
    r"(?:struct|class|enum class) (\w+)|(?:^|[\s&*>])([a-z]\w+)\((?!\*)|constexpr .*?\b(k[A-Z]\w*)"
)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"(\[])")
FEWEST_WORDS = 4  # of a sentence that says something


@dataclass(frozen=True)
class Words:
    """Words to read, and where they stand."""

    text: str
    place: str


@functools.cache
def public_comments(root: Path) -> list[Comment]:
    """The comments of headers."""
    return [
        comment
        for comment in all_comments(root)
        if comment.path.startswith("stepwright/") and comment.path.endswith(".h")
    ]


def comments(root: Path) -> Iterator[Words]:
    """Public comments, each with the line of code that it is about."""
    for comment in public_comments(root):
        text = f"{comment.text}\n\n    {comment.code}"
        yield Words(text, f"{comment.path}:{comment.line}")


def names(root: Path) -> Iterator[Words]:
    """Names of types, functions and constants that have a comment."""
    for comment in public_comments(root):
        if found := DECLARED.search(comment.code):
            name = next(filter(None, found.groups()))
            yield Words(f"`{name}`", f"{comment.path}:{comment.line}: {comment.text}")


def messages(root: Path) -> Iterator[Words]:
    """Errors, warnings and notes of golden answers."""
    for path in sorted((root / GOLDENS).glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), start=1):
            if error := ERROR.match(line):
                yield Words(error[1], f"{path.name}:{number}")
        for number, note in notes_in(text):
            yield Words(note.removeprefix("- "), f"{path.name}:{number}")


def sentences(root: Path) -> Iterator[Words]:
    """Sentences of the paragraphs of documents, outside of code, tables and headings."""
    for path in documents(root):
        name = str(path.relative_to(root))
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        for block in re.split(r"\n\s*\n", text):
            if re.match(r"\s*[|#<]|    ", block):
                continue
            paragraph = " ".join(block.split())
            for sentence in SENTENCE.split(paragraph):
                if len(sentence.split()) >= FEWEST_WORDS:
                    yield Words(sentence, name)


PARTS = (
    ("Comments", "What is this, and what does it do?", comments, 60),
    ("Names", "What would you expect under this name?", names, 20),
    ("Errors and notes", "What is wrong or assumed, and what would you do?", messages, 30),
    ("Sentences of documents", "What does it say?", sentences, 20),
)


def drawn(root: Path, seed: int) -> list[tuple[str, str, list[Words]]]:
    """Title, question and drawn words of each part; a text that occurs twice is drawn once."""
    chance = random.Random(seed)
    parts = []
    for title, question, words, count in PARTS:
        once = sorted({one.text: one for one in words(root)}.values(), key=lambda one: one.text)
        parts.append((title, question, chance.sample(once, min(count, len(once)))))
    return parts


def page(parts: list[tuple[str, str, list[Words]]], *, key: bool) -> str:
    """The page for the reader, or its key."""
    lines = ["# Words to read once", ""]
    if not key:
        lines += ["Read each once. Mark `[x]` where you understood it, and go on.", ""]
    for title, question, words in parts:
        lines += [f"## {title}", "", question, ""]
        for number, one in enumerate(words, start=1):
            lines.append(f"{number}. {one.place}" if key else f"{number}. [ ] {one.text}")
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--key", type=Path, help="where to write what stands where")
    asked = parser.parse_args()
    parts = drawn(ROOT, asked.seed)
    if asked.key:
        asked.key.write_text(page(parts, key=True), encoding="utf-8")
    if asked.output:
        asked.output.write_text(page(parts, key=False), encoding="utf-8")
    else:
        print(page(parts, key=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
