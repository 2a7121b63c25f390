"""The planner's exceptions: one hierarchy, whose messages name file, field and value."""

from __future__ import annotations

from typing import Any

from .argument_words import argument_words


class StepwrightError(Exception):
    """Anything that could not be done; the message is the command's, with arguments for options."""


class InputError(StepwrightError, ValueError):
    """What was given is wrong (exit code 2 of the command).

    What is not known of the place is None.
    """

    file: str | None = None
    """The file, or the name of a job or plan that stands in memory."""
    line: int | None = None
    """From 1."""
    column: int | None = None
    """From 1, in bytes."""
    field: str | None = None
    """The dotted path of the value, as "batch.length"."""
    value: str | None = None
    """As it was written."""


class UnsupportedError(StepwrightError, NotImplementedError):
    """Known, but nothing covers it yet (exit code 3); the same fields as `InputError`."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    field: str | None = None
    value: str | None = None


class RunError(StepwrightError, RuntimeError):
    """It failed while running (exit code 1)."""


_KINDS: dict[str, type[StepwrightError]] = {
    "input": InputError,
    "unsupported": UnsupportedError,
    "runtime": RunError,
}


def error_of(failure: dict[str, Any]) -> StepwrightError:
    """The exception of what the planner reported."""
    error = _KINDS[failure["kind"]](argument_words(failure["message"]))
    if not isinstance(error, RunError):
        for name in ("file", "line", "column", "field", "value"):
            setattr(error, name, failure[name] or None)
    return error
