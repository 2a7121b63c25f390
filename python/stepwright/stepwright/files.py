"""Replaces files whole: a reader finds the old content or the new content, never a part of it."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from typing import IO, Any


@contextlib.contextmanager
def replaced(
    path: str | os.PathLike[str],
    *,
    binary: bool = False,
    newline: str | None = None,
    keep_part: bool = False,
) -> Iterator[IO[Any]]:
    """Opens a new file beside `path` (PATH.part-TOKEN), which takes its name when the block ends.

    The new file has the mode and, where this user may set it, the owner of the old one. The file
    that a symbolic link names is replaced; the link stays. If the block raises, the old file stays
    as it was. A pipe or a device is written to directly.

    Args:
        path: The file to replace. It need not exist; its folder must.
        binary: Whether to open for bytes; else for text in UTF-8.
        newline: As `open` takes it.
        keep_part: Whether the new file stays beside, under its own name, if the block raises.

    Raises `OSError`, which names `path`, where it cannot be written.
    """
    form: dict[str, Any] = {"mode": "wb"}
    if not binary:
        form = {"mode": "w", "encoding": "utf-8", "newline": newline}
    old = _status(path)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with open(path, **form) as file:
            yield file
        return
    if old is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
    target = os.path.realpath(path)
    part = f"{target}.part-{secrets.token_hex(4)}"
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    try:
        with open(descriptor, **form) as file:
            if old is not None:
                _give_owner_and_mode(descriptor, old)
            yield file
            file.flush()
            os.fsync(descriptor)  # so that a power cut does not leave an empty file
        os.replace(part, target)
    except BaseException:
        if not keep_part:
            with contextlib.suppress(OSError):
                os.unlink(part)
        raise


def replace_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file as `replaced` does, in UTF-8."""
    with replaced(path) as file:
        file.write(text)


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """The status of the file, links followed; None if absent."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _give_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
    with contextlib.suppress(PermissionError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
