from collections.abc import Callable
from typing import Any, TypeAlias

version: str

File: TypeAlias = tuple[str, str | None, str]
"""Name, text (None: read the file of that name), folder of relative paths in the text."""
Failure: TypeAlias = dict[str, Any]
"""Kind, message and place of an error."""
Reply: TypeAlias = tuple[str, list[tuple[str, str]], Failure | None]
"""What was answered, messages (level, text), and how it failed."""
Tell: TypeAlias = Callable[[bool, int, int, int], object]

# Functions that answer what the command of a similar name prints with `--json`. `words`: keyword
# arguments by name, a list has several words and True has none.
def tune(
    words: dict[str, list[str]], files: dict[str, list[File]], progress: Tell | None = None
) -> Reply: ...
def advise(
    words: dict[str, list[str]], files: dict[str, list[File]], progress: Tell | None = None
) -> Reply: ...
def predict(
    words: dict[str, list[str]], files: dict[str, list[File]], progress: Tell | None = None
) -> Reply: ...
def run(
    words: dict[str, list[str]], files: dict[str, list[File]], progress: Tell | None = None
) -> Reply: ...
def phases(
    words: dict[str, list[str]], files: dict[str, list[File]], progress: Tell | None = None
) -> Reply: ...
def traffic(
    words: dict[str, list[str]], files: dict[str, list[File]], progress: Tell | None = None
) -> Reply: ...
def memory(
    words: dict[str, list[str]], files: dict[str, list[File]], progress: Tell | None = None
) -> Reply: ...
def compare(
    words: dict[str, list[str]], files: dict[str, list[File]], progress: Tell | None = None
) -> Reply: ...
def check(
    words: dict[str, list[str]], files: dict[str, list[File]], progress: Tell | None = None
) -> Reply: ...
def command(arguments: list[str], texts: list[File], stand_in: str = "") -> Reply:
    """Runs a command of the program: its standard output, its messages, and how it failed.

    `stand_in`: of `capture` a program that calls the function `stand_in` with its words.
    """

def read(text: str, name: str, folder: str) -> tuple[str, str, str, Failure | None]:
    """Kind ("job", "plan"), JSON and a line for people of a document, and how it is none."""

def read_file(path: str, most_bytes: int) -> tuple[bytes, Failure | None]: ...
def to_yaml(json: str) -> str: ...
def command_line(arguments: list[str], stand_in: str = "") -> int:
    """Runs the program itself; the first argument is its name. Returns the exit code."""

def stand_in(arguments: list[str]) -> int | None:
    """Acts as a stand-in of a capture and returns its exit code; None: the process is none."""
