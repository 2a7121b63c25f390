"""Configurations of trainers that live in Python, as the texts that `check` reads."""

from __future__ import annotations

import enum
import json
from typing import Any


def is_configuration(given: Any) -> bool:
    """Whether it is an object of `transformers`, Megatron-Bridge or alike, not a document."""
    return callable(getattr(given, "to_dict", None))


def text_of(configuration: Any) -> tuple[str, str]:
    """A name for messages, and the content as JSON; what JSON lacks becomes a word."""
    content = configuration.to_dict()
    return f"<{type(configuration).__name__}>", json.dumps(content, default=_word)


def _word(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    return str(value)
