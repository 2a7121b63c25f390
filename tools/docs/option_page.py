"""The page of the site with the options of every command, as `--help` prints them.

A hook of mkdocs adds it; nothing is written to docs/: the command is the only source.
STEPWRIGHT_COMMAND names it, build/release/stepwright without. By hand:

    option_page.py      prints the page
"""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = "options.md"
HEAD = """# Options

Every command as its `--help` prints it. [Commands](commands.md) has the question that each answers.
"""


def help_of(*words: str) -> str:
    """What `stepwright WORDS --help` prints."""
    command = os.environ.get("STEPWRIGHT_COMMAND", str(ROOT / "build/release/stepwright"))
    call = [command, *words, "--help"]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout


def commands_below(*words: str) -> list[tuple[str, ...]]:
    """Every command below another, itself first if it has options of its own."""
    _, _, below = help_of(*words).partition("Subcommands:\n")
    names = re.findall(r"^  ([\w-]+) {2,}", below.split("\n\n")[0], re.M)
    if not names:
        return [words]
    return [one for name in names for one in commands_below(*words, name)]


def page() -> str:
    """The page in Markdown: a section with a block of text for each command."""
    sections = [
        f"## `{' '.join(words)}`\n\n```text\n{help_of(*words).rstrip()}\n```\n"
        for words in commands_below()
    ]
    return "\n".join([HEAD, *sections])


if __name__ == "__main__":
    print(page(), end="")
