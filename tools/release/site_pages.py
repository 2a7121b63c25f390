"""Puts the explorer and example reports into a folder that a host of static files gives to
browsers: site_pages.py EXPLORER COMMAND FOLDER. The explorer's engine becomes a file of its own,
packed, so that browsers fetch a quarter less than of the single page."""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path

ENGINE = "engine.wasm.lzma"
REPORTS = {
    "llama-3-70b-on-64-h100.html": ["tune", "examples/llama-3-70b.yaml"],
    "mixtral-8x7b-on-32-h100.html": ["tune", "examples/mixtral-8x7b.yaml"],
    "one-plan.html": ["predict", "examples/llama-3-70b.plan.yaml"],
}
CONTENT = re.compile(r'(<script id="content" type="application/json">)(.*?)(</script>)', re.S)
POLICY = "worker-src blob:"


def write_explorer(page: str, folder: Path) -> None:
    """The explorer as index.html with its engine beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    content = json.loads(CONTENT.search(page)[2])
    engine = base64.b64decode(content.pop("engine"))
    (folder / ENGINE).write_bytes(engine)
    content["engine_file"] = ENGINE
    told = json.dumps(content).replace("<", "\\u003c")
    page = CONTENT.sub(lambda match: match[1] + told + match[3], page)
    page = page.replace(POLICY, f"{POLICY}; connect-src 'self'", 1)
    (folder / "index.html").write_text(page, encoding="utf-8")


def write_reports(command: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, arguments in REPORTS.items():
        call = [command, *arguments, "--report", folder / name]
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    explorer, command, folder = sys.argv[1:]
    folder = Path(folder)
    if Path(explorer).exists():
        write_explorer(Path(explorer).read_text(encoding="utf-8"), folder / "explorer")
    else:
        print(f"site: without the explorer: {explorer} is not there (make engine)")
    write_reports(command, folder / "reports")


if __name__ == "__main__":
    main()
