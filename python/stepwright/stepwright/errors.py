"""What the planner raises: one hierarchy, whose messages name file, field and value."""

from __future__ import annotations


class StepwrightError(Exception):
    """Anything that could not be done; the message is what the command prints."""


class InputError(StepwrightError, ValueError):
    """What was given is wrong (exit code 2 of the command).

    What is not known of the place is empty or 0.
    """

    file: str = ""
    """The file, or the name of a job or plan that stands in memory."""
    line: int = 0
    """From 1."""
    column: int = 0
    """From 1, in bytes."""
    field: str = ""
    """The dotted path of the value, as "batch.length"."""
    value: str = ""
    """As it was written."""


class UnsupportedError(StepwrightError, NotImplementedError):
    """Known, but nothing covers it yet (exit code 3); the same fields as `InputError`."""

    file: str = ""
    line: int = 0
    column: int = 0
    field: str = ""
    value: str = ""


class RunError(StepwrightError, RuntimeError):
    """It failed while running (exit code 1)."""


_KINDS: dict[str, type[StepwrightError]] = {
    "input": InputError,
    "unsupported": UnsupportedError,
    "runtime": RunError,
}


def error_of(failure: dict) -> StepwrightError:
    """The exception of what the planner reported."""
    error = _KINDS[failure["kind"]](failure["message"])
    if not isinstance(error, RunError):
        for name in ("file", "line", "column", "field", "value"):
            setattr(error, name, failure[name])
    return error
