"""Names every test that the last run of ctest skipped, why, and the command that runs it.

Reads the log that ctest leaves in a build folder, since a case that is skipped inside a passing
program is in no list of ctest's. Reasons end in the command that brings what is missing, in
parentheses: "no Chromium is installed (tools/setup.sh test)".
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ENTRY = re.compile(r"^\d+/\d+ Test: (\S+)$")
WHOLE = re.compile(r"^skipped: (.+)$")
# GoogleTest gives the reason on the lines between these two.
GOOGLE_REASON = re.compile(r"^\S+:\d+: Skipped$")
GOOGLE_CASE = re.compile(r"^\[  SKIPPED \] (\S+) \(\d+ ms\)$")
PYTHON_CASE = re.compile(r"^\s*(\w+) \(.*\.\.\. skipped (['\"])(.+)\2$")
COMMAND = re.compile(r"\(([^()]+)\)$")


@dataclass(frozen=True)
class Skipped:
    """A test that did not run; `case` is empty where it is all that an entry of ctest has."""

    entry: str
    case: str
    reason: str

    def command(self) -> str:
        """What runs it, from the root of the repository."""
        brings = COMMAND.search(self.reason)
        again = f"ctest --preset release -R '^{self.entry}$'"
        return f"{brings[1]} && {again}" if brings else again


def skipped_in(log: str) -> list[Skipped]:
    """The skipped tests of a log of ctest, in its order, each once."""
    found: dict[Skipped, None] = {}
    entry, reason, awaited = "", "", False
    for line in log.splitlines():
        if match := ENTRY.match(line):
            entry = match[1]
        elif match := WHOLE.match(line):
            found[Skipped(entry, "", match[1])] = None
        elif GOOGLE_REASON.match(line):
            reason, awaited = "", True
        elif match := GOOGLE_CASE.match(line):
            found[Skipped(entry, match[1], reason)] = None
            awaited = False
        elif match := PYTHON_CASE.match(line):
            found[Skipped(entry, match[1], match[3])] = None
        elif awaited and line:
            reason = f"{reason} {line}".strip()
    return list(found)


def text_of(skipped: list[Skipped]) -> str:
    """The tests by entry with their commands; one line where none was skipped."""
    if not skipped:
        return "No test was skipped."
    lines = ["Skipped tests, and what runs them:"]
    for each in skipped:
        lines.append(f"  {' '.join(filter(None, [each.entry, each.case]))}: {each.reason}")
        lines.append(f"    {each.command()}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: skipped_tests.py BUILD_FOLDER", file=sys.stderr)
        return 2
    log = Path(arguments[0], "Testing/Temporary/LastTest.log")
    if not log.is_file():
        print(f"{log} is not there: ctest writes it", file=sys.stderr)
        return 2
    print(text_of(skipped_in(log.read_text(encoding="utf-8", errors="replace"))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
