"""Packs wheels anew, so that the same files give the same bytes: entries by name, times of
SOURCE_DATE_EPOCH (else 1980), modes 644 and 755, one compression.

    tools/release/repack.py WHEEL...
"""

import os
import stat
import sys
import time
import zipfile
from pathlib import Path

EARLIEST = (1980, 1, 1, 0, 0, 0)  # of a zip file
LEVEL = 9


def moment() -> tuple[int, ...]:
    """The time that all entries have."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    return max(tuple(time.gmtime(int(epoch))[:6]), EARLIEST) if epoch else EARLIEST


def entry(old: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """The header of a file, without what differs from build to build."""
    new = zipfile.ZipInfo(old.filename, moment())
    is_program = bool(old.external_attr >> 16 & stat.S_IXUSR)
    new.external_attr = (stat.S_IFREG | (0o755 if is_program else 0o644)) << 16
    new.compress_type = zipfile.ZIP_DEFLATED
    new.create_system = 3  # Unix
    return new


def order(old: zipfile.ZipInfo) -> tuple[bool, str]:
    """By name; a wheel's own records stand last, as the format asks."""
    return ".dist-info/" in old.filename, old.filename


def repack(wheel: Path) -> None:
    """Replaces a wheel by one of the same files."""
    written = wheel.with_suffix(".new")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(written, "w") as new:
        for one in sorted(old.infolist(), key=order):
            if not one.is_dir():
                new.writestr(entry(one), old.read(one), compresslevel=LEVEL)
    written.replace(wheel)


if __name__ == "__main__":
    for word in sys.argv[1:]:
        repack(Path(word))
