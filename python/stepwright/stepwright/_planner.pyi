from collections.abc import Callable

version: str

def run(
    arguments: list[str],
    texts: list[tuple[str, str, str]],
    progress: Callable[[bool, int, int, int], object] | None = None,
    stand_in: str = "",
) -> tuple[str, list[tuple[str, str]], dict | None]:
    """Runs a command: its standard output, its messages (level, text), and how it failed.

    `stand_in`: of `capture` a program that calls the function `stand_in` with its words.
    """

def read(text: str, name: str, folder: str) -> tuple[str, str, str, dict | None]:
    """Kind ("job", "plan"), JSON and a line for people of a document, and how it is none."""

def to_yaml(json: str) -> str: ...
def command_line(arguments: list[str], stand_in: str = "") -> int:
    """Runs the program itself; the first argument is its name. Returns the exit code."""

def stand_in(arguments: list[str]) -> int | None:
    """Acts as a stand-in of a capture and returns its exit code; None: the process is none."""
