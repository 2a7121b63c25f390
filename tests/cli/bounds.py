"""Limits of resources for commands under test, and what a build of the command has."""

import functools
import os
import resource
from pathlib import Path

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()


@functools.cache
def sanitized() -> bool:
    """Whether the command was built under a sanitizer, whose shadow memory takes terabytes of the
    address space."""
    program = COMMAND.read_bytes()
    return b"__asan_init" in program or b"__tsan_init" in program


def limit_address_space(most: int) -> None:
    """Limits the bytes of the address space of this process, except under a sanitizer."""
    if not sanitized():
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def trains() -> bool:
    """Whether the command was built with its executor of training steps."""
    return COMMAND.with_name("stepwright-rank").exists()
