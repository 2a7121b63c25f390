"""Prints words that a stranger does not read at once, and fails where there are more than recorded.

- opening: a `///` comment that begins with a word which leans on the sentence before it
- fragment: a `///` comment of less than four words
- cell: a cell of a table in a document of more than 300 characters
- line: a line of a document of more than 200 characters
- note: a note in a golden answer of more than two sentences

words_ratchet.json holds how many each room has, and the bytes of all documents; a count may only
fall. A document that needs room takes it from another one.

    check_words.py [ROOT]               fails where a room has more than recorded
    check_words.py [ROOT] --list WHAT   prints every finding of a kind, or of a room
    check_words.py [ROOT] --lower       records the counts that have fallen
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from comments import all_comments

RATCHET = "tools/check/words_ratchet.json"
LEANING = re.compile(
    r"(What|Of|Those|The same|Likewise|Its|Also|Nothing|By which|But for|As for)\b", re.IGNORECASE
)
FEWEST_WORDS = 4
LONGEST_CELL = 300
LONGEST_LINE = 200
MOST_SENTENCES = 2
SENTENCE = re.compile(r"[.!?](?=\s+[A-Z`\"(]|\s*$)")
GOLDENS = "tests/cli/golden"
KINDS = ("opening", "fragment", "cell", "line", "note")
WEIGHT, BOOK = "bytes", "documents"  # of the ratchet: all documents together
STEP = 1000  # of bytes that are recorded


@dataclass(frozen=True)
class Finding:
    """Words that break a rule."""

    kind: str
    path: str
    line: int
    text: str

    @property
    def room(self) -> str:
        """The room or document that answers for it: "stepwright/cli", "docs/formats.md"."""
        parts = self.path.split("/")
        return "/".join(parts[:2]) if len(parts) > 1 else self.path


def comment_findings(root: Path) -> Iterator[Finding]:
    for comment in all_comments(root):
        if LEANING.match(comment.text):
            yield Finding("opening", comment.path, comment.line, comment.text)
        if len(comment.text.split()) < FEWEST_WORDS:
            yield Finding("fragment", comment.path, comment.line, comment.text)


def documents(root: Path) -> list[Path]:
    """The documents that people read, the changelog aside."""
    top = [path for path in root.glob("*.md") if path.name != "CHANGELOG.md"]
    return sorted([*top, *(root / "docs").rglob("*.md"), *(root / "skills").rglob("*.md")])


def document_bytes(root: Path) -> int:
    """Bytes of README.md, of docs/ and of what measures and data say of themselves."""
    readmes = [root / name for name in ("README.md", "bench/README.md", "data/README.md")]
    pages = [*(root / "docs").rglob("*.md"), *(page for page in readmes if page.exists())]
    return sum(page.stat().st_size for page in pages)


def document_findings(root: Path) -> Iterator[Finding]:
    for path in documents(root):
        name = str(path.relative_to(root))
        code = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            code ^= line.lstrip().startswith("```")
            if code:
                continue
            if line.startswith("|"):
                cells = re.split(r"(?<!\\)\|", line.strip("|"))
                long = [cell.strip() for cell in cells if len(cell.strip()) > LONGEST_CELL]
                yield from (Finding("cell", name, number, cell) for cell in long)
            elif len(line) > LONGEST_LINE:
                yield Finding("line", name, number, line)


def notes_in(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each note of an answer, which stand under the line "Notes"."""
    inside = False
    begun: list[str] = []
    first = 0
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        more = inside and re.match(r"\s{2,}\S", line)
        if begun and not more:
            yield first, " ".join(begun)
            begun = []
        inside = line == "Notes" or (inside and bool(line.strip()))
        if inside and line != "Notes":
            first = first if begun else number
            begun.append(line.strip())


def note_findings(root: Path) -> Iterator[Finding]:
    for path in sorted((root / GOLDENS).glob("*.txt")):
        for number, note in notes_in(path.read_text(encoding="utf-8")):
            if len(SENTENCE.findall(note)) > MOST_SENTENCES:
                yield Finding("note", str(path.relative_to(root)), number, note)


def findings(root: Path) -> list[Finding]:
    return [*comment_findings(root), *document_findings(root), *note_findings(root)]


def counts_of(found: list[Finding]) -> dict[str, dict[str, int]]:
    """Findings by kind and room."""
    counts = Counter((one.kind, one.room) for one in found)
    return {
        kind: {room: n for (of, room), n in sorted(counts.items()) if of == kind} for kind in KINDS
    }


def risen(found: list[Finding], recorded: dict[str, dict[str, int]]) -> list[str]:
    """What stands in rooms that have more than recorded, a line each."""
    lines = []
    for kind, rooms in counts_of(found).items():
        for room, count in rooms.items():
            most = recorded.get(kind, {}).get(room, 0)
            if count <= most:
                continue
            lines += [
                f"{one.path}:{one.line}: {kind}: {one.text[:100]}"
                for one in found
                if (one.kind, one.room) == (kind, room)
            ]
            lines.append(f"{room}: {count} of kind {kind}, {most} are recorded")
    return lines


def too_long(root: Path, recorded: dict[str, dict[str, int]]) -> list[str]:
    """A line where all documents together have more bytes than recorded."""
    most = recorded.get(WEIGHT, {}).get(BOOK)
    size = document_bytes(root)
    if most is None or size <= most:
        return []
    return [f"{BOOK}: {size} bytes, {most} are recorded: say something once, or in fewer words"]


def lowered_bytes(root: Path, recorded: dict[str, dict[str, int]]) -> dict[str, int]:
    """The recorded bytes of documents, as low as today's, in whole steps."""
    today = -(-document_bytes(root) // STEP) * STEP
    return {BOOK: min(today, recorded.get(WEIGHT, {}).get(BOOK, today))}


def lowered(
    counts: dict[str, dict[str, int]], recorded: dict[str, dict[str, int]]
) -> dict[str, dict[str, int]]:
    """The recorded counts, each as low as today's; all of today's where nothing is recorded."""
    if not recorded:
        return counts
    return {
        kind: {
            room: min(most, counts[kind][room])
            for room, most in recorded.get(kind, {}).items()
            if counts[kind].get(room)
        }
        for kind in KINDS
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--list", metavar="WHAT")
    parser.add_argument("--lower", action="store_true")
    asked = parser.parse_args()
    found = findings(asked.root)
    ratchet = asked.root / RATCHET
    recorded = json.loads(ratchet.read_text(encoding="utf-8")) if ratchet.exists() else {}
    if asked.list:
        for one in found:
            if asked.list in (one.kind, one.room):
                print(f"{one.path}:{one.line}: {one.kind}: {one.text}")
        return 0
    if asked.lower:
        counts = lowered(counts_of(found), recorded)
        counts[WEIGHT] = lowered_bytes(asked.root, recorded)
        ratchet.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
        return 0
    if wrong := [*risen(found, recorded), *too_long(asked.root, recorded)]:
        print("\n".join(wrong))
        return 1
    totals = Counter(one.kind for one in found)
    counts = ", ".join(f"{kind} {totals[kind]}" for kind in KINDS)
    print(f"words: {counts}; {document_bytes(asked.root)} bytes of documents")
    return 0


if __name__ == "__main__":
    sys.exit(main())
