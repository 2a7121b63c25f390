"""Replaces files whole, for tools: `replaced` and `replace_text` of the package `stepwright`, whose
module is loaded by its path, as tools run before anything is built.
"""

import contextlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

_PATH = Path(__file__).resolve().parents[1] / "python/stepwright/stepwright/files.py"
_spec = importlib.util.spec_from_file_location("stepwright_files", _PATH)
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)

replaced = _module.replaced
replace_text = _module.replace_text


@contextlib.contextmanager
def printed_to(path: str | Path | None) -> Iterator[None]:
    """Replaces a file by what the block prints; None: the block prints to standard output."""
    if path is None:
        yield
        return
    with replaced(path) as file, contextlib.redirect_stdout(file):
        yield
