"""Runs the program `stepwright`: `python -m stepwright`."""

import sys

from ._planner import command_line
from .errors import UnsupportedError
from .stand_in import stand_in_program


def main() -> int:
    words = ["stepwright", *sys.argv[1:]]
    if not {"capture", "--capture"} & set(words[1:]):
        return command_line(words)
    try:
        with stand_in_program() as stand_in:
            return command_line(words, stand_in)
    except UnsupportedError as error:
        print(f"stepwright: error: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
