"""docs/limits.md says what the constants of the readers are."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| ([^|]+) \| ([\d,]+)(?: (Mi|KiB|MiB|GiB))? \| [^|]*\|$")
UNITS = {"": 1, "Mi": 2**20, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}

# Limit -> file and constant of the code.
CONSTANTS = {
    "bytes of a YAML or JSON file": ("core/document.cpp", "kLargestText"),
    "bytes of a YAML text": ("core/yaml_reader.h", "kMaxYamlTextBytes"),
    "levels of YAML, JSON and TOML, parts of a dotted key": (
        "core/assembler.h",
        "kMaxDocumentNestingDepth",
    ),
    "values and keys": ("core/assembler.h", "kMaxYamlOrJsonValues"),
    "bytes that anchors and aliases stand for": ("core/assembler.h", "kMaxYamlAliasCopyBytes"),
    "bytes of a key": ("core/assembler.h", "kMaxMappingKeyBytes"),
    "bytes of a CSV file": ("core/csv.cpp", "kLargestFile"),
    "columns of a table": ("core/csv.cpp", "kMostColumns"),
    "cells of a table": ("core/csv.cpp", "kMostCells"),
    "bytes of a file that is imported": ("framework_files/launch_file.cpp", "kLargestFile"),
    "bytes of a log that holds arguments": ("framework_files/launch_file.cpp", "kLargestLog"),
    "names of settings of one file at whose meaning a report guesses": (
        "framework_files/draft/import_report.h",
        "kMostGuesses",
    ),
    "references `${...}` of a file": ("framework_files/forms/references.cpp", "kMostReferences"),
    "references that lead to each other": ("framework_files/forms/references.cpp", "kLongestChain"),
    "bytes of a script of a shell": ("launch_scripts/shell/reader.cpp", "kLongestScript"),
    "commands of a script": ("launch_scripts/shell/parser.cpp", "kMostCommands"),
    "commands inside each other": ("launch_scripts/shell/parser.cpp", "kDeepestCommands"),
    "calls and commands that are open at once": (
        "launch_scripts/shell/reader.cpp",
        "kDeepestSteps",
    ),
    "variables inside each other": ("launch_scripts/shell/expansion.cpp", "kDeepestVariables"),
    "steps of a script": ("launch_scripts/shell/state.cpp", "kMostShellSteps"),
    "words that a script makes": ("launch_scripts/shell/state.cpp", "kMostShellWords"),
    "bytes of these words": ("launch_scripts/shell/state.cpp", "kMostShellBytes"),
    "scripts that go on with each other": ("launch_scripts/shell/start.cpp", "kFilesDeep"),
    "statements of a program of Python": ("launch_scripts/python/source.cpp", "kMostStatements"),
    "brackets of Python inside each other": (
        "launch_scripts/python/parser.cpp",
        "kDeepestExpression",
    ),
    "blocks of Python inside each other": ("launch_scripts/python/block.cpp", "kDeepestBlock"),
    "steps of a program of Python": ("launch_scripts/python/program.cpp", "kMostFollowed"),
    "blanks at the beginning": ("logs/files/byte_source.cpp", "kMostBlanks"),
    "bytes of a line": ("logs/files/line_reader.h", "kLongest"),
    "bytes of an event or entry in JSON": ("logs/files/json_scanner.cpp", "kLargestPiece"),
    "levels of an event or entry": ("logs/files/json_scanner.cpp", "kDeepestPiece"),
    "bytes of an object of NCCL's plugins": ("logs/files/object_splitter.cpp", "kLargestObject"),
    "bytes of a node of Chakra": ("logs/readers/chakra.cpp", "kLargestMessage"),
    "times that a packed file may grow": ("logs/files/byte_source.cpp", "kMostExpansion"),
    "memory for the values of a pickle that becomes JSON": (
        "logs/files/pickle.cpp",
        "kMostPickleValues",
    ),
    "bytes of a pickle as JSON": ("logs/files/pickle.cpp", "kLargestText"),
    "levels of a pickle": ("logs/files/pickle.cpp", "kDeepestPickle"),
    "bytes of raw data of DeepSpeed": ("logs/readers/deepspeed.cpp", "kMostRawBytes"),
    "bytes of what nccl-tests print": ("logs/readers/nccl_tests.cpp", "kMostTestBytes"),
    "bytes of a ledger": ("logs/readers/ledger_log.cpp", "kMostLedgerBytes"),
    "ranks of a job": ("logs/record.h", "kMaxJobRanks"),
    "calls that one line stands for": ("logs/readers/read_logs.cpp", "kMostRepeats"),
    "seconds of a call": ("logs/readers/read_logs.cpp", "kLongest_s"),
    "ranks that groups of all ranks list": ("logs/readers/nccl_text.cpp", "kMostListed"),
    "parts of all-to-alls in equal parts": ("logs/readers/log_writer.cpp", "kMostEqualParts"),
    "memory for values that are held at once": (
        "snapshot/read_snapshot.cpp",
        "kMostSnapshotValues",
    ),
    "bytes of a block or segment": ("snapshot/read_snapshot.cpp", "kMostBlockBytes"),
    "devices": ("snapshot/read_snapshot.cpp", "kMostDevices"),
    "segments": ("snapshot/read_snapshot.cpp", "kMostSegments"),
    "blocks in use at once": ("snapshot/peak_walk.cpp", "kMostBlocks"),
    "different stacks": ("snapshot/stack_table.cpp", "kMostStacks"),
    "allocations that failed": ("snapshot/trace_walk.cpp", "kMostFailures"),
    "groups of blocks in an answer": ("snapshot/compare_snapshots.cpp", "kMostGroups"),
    "bytes of a line of a dataset": ("packing/dataset_lengths.cpp", "kLongestLine"),
    "tokens of a document": ("packing/dataset_lengths.cpp", "kLongestDocument"),
}


def value_of(file, name):
    """The number that a constant is: of digits, a power of ten or a shift."""
    text = (ROOT / "stepwright" / file).read_text()
    found = re.search(rf"constexpr [\w:]+ {name} =\s*([^;]+);", text)
    if found is None:
        return None
    said = re.sub(r"std::\w+\{(\d+)\}", r"\1", found[1]).replace("'", "").replace("U", "")
    assert re.fullmatch(r"[\d.e+*< ]+", said), said
    return eval(said)  # digits and signs alone


class Limits(unittest.TestCase):
    def test_are_those_of_the_code(self):
        said = set()
        for line in (ROOT / "docs" / "limits.md").read_text().splitlines():
            if not line.startswith("|") or line.startswith(("| limit |", "|---")):
                continue
            row = ROW.match(line)
            self.assertIsNotNone(row, line)
            what, number, unit = row.groups()
            value = int(number.replace(",", "")) * UNITS[unit or ""]
            file, name = CONSTANTS[what]
            self.assertEqual(value_of(file, name), value, f"{what}: {file} {name}")
            said.add(what)
        self.assertEqual(said, set(CONSTANTS))


if __name__ == "__main__":
    unittest.main()
