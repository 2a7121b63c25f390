"""A hook of mkdocs: adds the pages of options and constants, which nobody writes by hand."""

import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parent))

import constant_page
import option_page


def on_files(files, config):
    """Adds the pages to those of docs/."""
    for written in (constant_page, option_page):
        files.append(File.generated(config, written.PAGE, content=written.page()))
    return files
