"""`capture`: runs a launch script and records the training commands that it would start."""

from __future__ import annotations

import os

from .answers import LaunchRecord
from .commands import PathLike, _CommandLine
from .errors import error_of


def capture(
    *command: PathLike,
    nodes: int | None = None,
    gpus_per_node: int | None = None,
    only_launchers: bool = False,
    timeout: float | None = None,
    output: PathLike | None = None,
) -> LaunchRecord:
    """Runs a launch script with stand-ins for its launchers; `commands` is what it would start.

    The script really runs, and its output goes to standard error: docs/capture.md says what does
    nothing and what does not. `check` takes the record.

    Args:
        command: The script and its arguments: "bash", "job.sh".
        nodes: Number of nodes of the job; overrides the script.
        gpus_per_node: Number of GPUs of a node; overrides the script.
        only_launchers: Commands that write, fetch or delete do nothing.
        timeout: Seconds after which the script is ended; 300.
        output: Where to write the record.

    A script that starts nothing is no error: `commands` is empty.
    """
    call = _CommandLine("capture", captures=True)
    call.options(
        nodes=nodes,
        gpus_per_node=gpus_per_node,
        only_launchers=only_launchers,
        timeout=timeout,
        output=output,
    )
    call.arguments += ["--", *(os.fspath(word) for word in command)]
    text, failure = call.run()
    if failure and not text:
        raise error_of(failure)
    return LaunchRecord.from_text(text)
