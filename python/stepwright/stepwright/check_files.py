"""Checks launch files one by one, for a pre-commit hook or a CI job.

    python -m stepwright.check_files FILE... --cluster dgx-h100 [--set NAME=VALUE] [--github]

Exit code 0 if every file starts and fits, else 1. A file that describes no job is passed over only
with --skip-unknown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from .commands import check
from .errors import InputError, StepwrightError


@dataclass(frozen=True)
class Verdict:
    """What a check says of a file."""

    file: str
    line: int
    good: bool
    text: str

    def plain(self) -> str:
        return f"{self.file}: {self.text}"

    def annotation(self) -> str:
        """A line that GitHub shows beside the file in a pull request."""
        kind = "notice" if self.good else "error"
        text = self.text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        return f"::{kind} file={self.file},line={self.line},title=stepwright check::{text}"


def verdict_of(file: str, options: argparse.Namespace) -> Verdict | None:
    """The verdict on a file; None if it describes no job and such files are passed over."""
    settings = dict(word.partition("=")[::2] for word in options.set)
    try:
        answer = check(
            file, cluster=options.cluster, model=options.model, nodes=options.nodes, set=settings
        )
    except InputError as error:
        if options.skip_unknown and error.line is None and error.field is None:
            return None
        return Verdict(file, error.line or 1, good=False, text=str(error))
    except StepwrightError as error:
        return Verdict(file, 1, good=False, text=str(error))
    if answer.fault is not None:
        return Verdict(file, 1, good=False, text=answer.fault)
    if answer.step_time_s is None:
        return Verdict(file, 1, good=True, text="starts")
    low, high = answer.low_s or answer.step_time_s, answer.high_s or answer.step_time_s
    step = f"{answer.step_time_s:.3g} s a step ({low:.3g} to {high:.3g} s four times of five)"
    return Verdict(file, 1, good=True, text=f"starts and fits, {step}")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--cluster", help="what the jobs run on, as dgx-h100:4")
    parser.add_argument("--model", help="what is trained, where the files do not say it")
    parser.add_argument("--nodes", type=int, help="of the jobs, whatever the files say")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--skip-unknown", action="store_true", help="pass over files of no job")
    parser.add_argument("--github", action="store_true", help="annotate the pull request")
    options = parser.parse_args(words)
    verdicts = [one for file in options.files if (one := verdict_of(file, options)) is not None]
    for one in verdicts:
        print(one.annotation() if options.github else one.plain())
    return 0 if all(one.good for one in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
