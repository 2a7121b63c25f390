"""The exception that `tune` raises if no plan fits in memory."""

from .answers import Tuning
from .errors import RunError


class NothingFitsError(RunError):
    """No plan of a search fits in memory."""

    tuning: Tuning
    """The search; its only plan is the one that needs the least memory."""
