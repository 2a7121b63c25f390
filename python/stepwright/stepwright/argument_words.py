"""Rewrites the command's messages for Python: they name arguments instead of options."""

from __future__ import annotations

import re

# Options that Python's functions name otherwise.
_RENAMED = {"from": "source", "log": "logs"}
# Options that are arguments of a function; others in a message are flags of a framework's own.
_ARGUMENTS = frozenset(
    (
        "against",
        "algorithm",
        "batch",
        "candidates",
        "capture",
        "channels",
        "characters-per-token",
        "checkpoint-interval",
        "checkpoints",
        "chunks",
        "cluster",
        "collective",
        "command",
        "conditions",
        "device",
        "device-mttf",
        "evaluation",
        "evaluation-every",
        "evaluation-tokens",
        "even-if-it-does-not-fit",
        "exhaustive",
        "failures-per-device-hour",
        "field",
        "framework",
        "from",
        "function",
        "gain",
        "gpus",
        "gpus-per-node",
        "host-copy",
        "links",
        "log",
        "matrix",
        "memory-confidence",
        "memory-reserve",
        "model",
        "name",
        "nearest",
        "next",
        "nodes",
        "only-launchers",
        "output",
        "plan",
        "price-per-gpu-hour",
        "profile",
        "program",
        "rank",
        "release",
        "repair",
        "row",
        "report",
        "restart",
        "runs",
        "seed",
        "set",
        "simulate",
        "snapshot",
        "spare-nodes",
        "storage",
        "straggler-spread",
        "strict",
        "sweep",
        "threads",
        "tier",
        "tiers",
        "timeout",
        "to",
        "tokens",
        "top",
        "trace",
        "write-snapshot",
    )
)
# A command line in backquotes stays one; so does a flag behind a place ("train.sh:3: --nodes") or a
# scheduler's mark, which stands in the person's own file.
_KEPT = r"`stepwright [^`]*`|:\d+: --[\w-]+|#?SBATCH --[\w-]+"
_OPTION = re.compile(rf"{_KEPT}|(?<![\w-])--(?P<name>[a-z][a-z-]*)(?P<value> [A-Z{{][\w{{}}.=]*)?")
_HELP = re.compile(r" \(stepwright \w+ --help\)$")


def argument_words(message: str) -> str:
    """The message with the names of arguments in place of options.

    >>> argument_words("mine.sh: cluster: is not said; add --cluster NAME")
    'mine.sh: cluster: is not said; add cluster=NAME'
    """
    return _HELP.sub("", _OPTION.sub(_argument, message))


def _argument(match: re.Match[str]) -> str:
    name = match["name"]
    if name not in _ARGUMENTS:
        return match[0]
    argument = _RENAMED.get(name, name.replace("-", "_"))
    value = match["value"]
    return argument if value is None else f"{argument}={value.strip()}"
