"""Files are opened by core/input_file.h and core/output_file.h alone: `std::fstream` says no
reasons, and calls of std::filesystem without an error code throw sentences that name no file."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

STREAMS = re.compile(r"\b(?:[io]?fstream|filebuf)\b|\bf(?:re)?open\(")
CALL = re.compile(
    r"\b(?:fs|filesystem)::(?:exists|is_\w+|file_size|(?:symlink_)?status|equivalent|create_\w+|"
    r"rename|remove|remove_all|(?:weakly_)?canonical|read_symlink|directory_iterator|copy_file|"
    r"last_write_time|permissions|space|temp_directory_path)\b[^;]*;"
)
#: A code takes the error, or a status that was asked for with one is looked at.
WITH_CODE = re.compile(r"\b(?:error|ignored|none|none_yet|failed|status)\b")
#: Throws inside of a `try` that names the folder.
THROWING = {"stepwright/capture/capture_folder.cpp"}


def findings(name: str, text: str) -> list[str]:
    """The places of a source that open files or ask for them in another way."""
    code = re.sub(r"//[^\n]*", "", text)
    found = [f"{name}: {match[0]}" for match in STREAMS.finditer(code)]
    if name in THROWING:
        return found
    calls = (match[0] for match in CALL.finditer(code))
    return found + [f"{name}: {call}" for call in calls if not WITH_CODE.search(call)]


class Files(unittest.TestCase):
    def test_no_source_opens_files_in_another_way(self):
        found = []
        for folder in ("stepwright", "python/stepwright/csrc"):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in (".h", ".cpp", ".cu"):
                    name = path.relative_to(ROOT).as_posix()
                    found += findings(name, path.read_text(encoding="utf-8"))
        self.assertEqual(found, [])

    def test_other_ways_are_found(self):
        for line in (
            "#include <fstream>",
            "std::ifstream file(path);",
            "std::ofstream(path) << text;",
            'FILE* file = std::fopen(name, "r");',
            "if (std::filesystem::exists(path)) return;",
            "fs::create_directories(\n    folder / name);",
        ):
            self.assertEqual(len(findings("stepwright/step/a.cpp", line)), 1, line)
        for line in (
            "// std::ifstream has no reasons",
            "if (fs::exists(path, error)) return;",
            "if (path_exists(path)) return;",
        ):
            self.assertEqual(findings("stepwright/step/a.cpp", line), [], line)


if __name__ == "__main__":
    unittest.main()
