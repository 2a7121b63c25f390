"""The program `stepwright`."""

import sys

from ._planner import command_line


def main() -> int:
    return command_line(["stepwright", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
