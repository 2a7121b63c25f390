"""The program that replaces launchers (torchrun, srun, ...) while a script is captured."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator

from . import _planner
from .errors import UnsupportedError

_COMMAND = "use the command `stepwright capture` of the Debian package or a checkout instead"
# Linux cuts the first line of a program behind so many bytes.
_LONGEST_FIRST_LINE = 120
# `-I -S`: variables and packages of the script's environment do not reach the stand-in.
_PROGRAM = """#!{python} -ISB
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location

with open("/proc/self/environ", "rb") as file:
    if not any(one.startswith(b"LC_CTYPE=") for one in file.read().split(b"\\0")):
        os.environ.pop("LC_CTYPE", None)  # Python sets it in the locale C
spec = spec_from_file_location("_planner", {module!r})
planner = module_from_spec(spec)
spec.loader.exec_module(planner)
code = planner.stand_in(sys.argv)
os._exit(127 if code is None else code)
"""


@contextlib.contextmanager
def stand_in_program() -> Iterator[str]:
    """The path of a program that acts as a stand-in under the name of a launcher.

    It is removed when the block ends. Raises `UnsupportedError` where this Python cannot be one.
    """
    python = sys.executable or ""
    first_line = f"#!{python} -ISB\n"
    if not os.path.isabs(python) or not os.access(python, os.X_OK):
        raise UnsupportedError(f"sys.executable: is no program ({python!r}); {_COMMAND}")
    if len(os.fsencode(first_line)) > _LONGEST_FIRST_LINE or any(map(str.isspace, python)):
        raise UnsupportedError(
            f"sys.executable: no program can begin with this path, as it has blanks or more than "
            f"{_LONGEST_FIRST_LINE} bytes ({python}); {_COMMAND}"
        )
    with tempfile.TemporaryDirectory(prefix="stepwright-stand-in-") as folder:
        path = os.path.join(folder, "stand_in")
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(_PROGRAM.format(python=python, module=_planner.__file__))
        os.chmod(path, 0o700)
        if not os.access(path, os.X_OK):
            raise UnsupportedError(
                f"{folder}: no program runs in this folder; set TMPDIR to another, or {_COMMAND}"
            )
        yield path
