"""Every program and Python package that tests start is among what `tools/setup.sh test` installs.

A word counts as a program where a source that starts programs has it in the place of a command and
this machine has such a program: one that is absent here fails its own test. Debian's list of
packages says whose it is; elsewhere only .venv is looked at.
"""

import ast
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE = sorted((ROOT / ".venv/lib").glob("python3*/site-packages"))
STARTERS = re.compile(r"which|run|Popen|check_\w+|output|exec[lv]p?e?|system")
STARTS = re.compile(
    r"\b(?:system|popen|exec[lv]p?e?|posix_spawnp?|CommandLine|run_program_for_error_text)\b"
)
# Words of messages and names of fields that programs of some machines are called, too.
NO_COMMANDS = {"init", "open", "size"}
# `serve --open` asks a desktop for its browser, which no test does.
# What writes answers.py anew is formatted; `--check`, which tests start, is not.
NEVER_STARTED = {"stepwright/cli/serve.cpp", "tools/docs/python_answers.py"}
INSTALLS = re.compile(r"\(sudo apt-get install ([\w .+-]+)\)")
BUILT_IN = {"cd", "echo", "exec", "exit", "kill", "printf", "trap", "ulimit", "wait"}  # of a shell
# What a skipped test tells a person to run: that installs what the test starts, too.
ELSEWHERE = re.compile(r"\((?:make|tools/setup\.sh) (\w+)\)")


@cache
def listed(goal: str) -> tuple[set[str], list[Path]]:
    """Packages of Debian and lists of Python packages that `tools/setup.sh GOAL` installs."""
    command = [ROOT / "tools/setup.sh", goal, "list"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    packages, optional, pins = told.stdout.split("\n")[:3] if told.returncode == 0 else ("",) * 3
    return {*packages.split(), *optional.split()}, [ROOT / pin for pin in pins.split()]


def commands_of_line(text: str) -> Iterator[str]:
    """The words of a shell's line that stand where it takes a command."""
    for part in re.split(r"&&|\|\|?|;|\$\(|`", text):
        words = part.split()
        while words and re.fullmatch(r"\w+=\S*", words[0]):
            words.pop(0)
        yield from set(words[:1]) - BUILT_IN


def commands_of_cpp(text: str) -> set[str]:
    if not STARTS.search(text):
        return set()
    literals = re.findall(r'\{"([\w.+-]+)"|"((?:[^"\\\n]|\\.)*? (?:[^"\\\n]|\\.)*)"', text)
    return {word for one in literals for word in commands_of_line("".join(one))}


def commands_of_python(text: str) -> set[str]:
    """Constants that head a list of several words, or stand first in a call that starts or looks
    for a program, and all of .venv."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        firsts = []
        if isinstance(node, ast.List) and len(node.elts) > 1:
            firsts = node.elts[:1]
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            firsts = node.args[:1] if STARTERS.fullmatch(name) else []
        elif isinstance(node, ast.Constant) and ".venv/bin/" in str(node.value):
            firsts = [node]
        found |= {each.value for each in firsts if isinstance(each, ast.Constant)}
    return {word for word in found if isinstance(word, str)}


def imports_of(text: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module)
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names


def reached(sources: Iterable[Path]) -> set[Path]:
    """Sources of Python and the scripts of tools/ and web/ that they start or import."""
    folders = (ROOT / "tools", ROOT / "web/engine")
    scripts = {path.stem: path for folder in folders for path in folder.rglob("*.py")}
    found, left = set(), set(sources)
    while left:
        path = left.pop()
        found.add(path)
        text = path.read_text(encoding="utf-8")
        names = imports_of(text) | set(re.findall(r"(\w+)\.py\b", text))
        left |= {scripts[name] for name in names & scripts.keys()} - found
    return found


def owners(program: str) -> set[str]:
    """The packages of Debian that hold a program of this machine; none for one that it lacks."""
    found = shutil.which(program)
    if found is None or not shutil.which("dpkg-query"):
        return set()
    real = Path(found).resolve()
    for path in (found, str(real), found.removeprefix("/usr"), str(real).removeprefix("/usr")):
        told = subprocess.run(
            ["dpkg-query", "-S", path], capture_output=True, text=True, check=False
        )
        if told.returncode == 0:
            lines = [x for x in told.stdout.splitlines() if not x.startswith("diversion ")]
            return {p.split(":")[0].strip() for x in lines for p in x.split(": ")[0].split(",")}
    return set()


@cache
def always_there() -> set[str]:
    """The packages without which there is no Debian, and what they cannot do without."""
    form = "${Package}\t${Essential}\t${Priority}\n"
    told = subprocess.run(
        ["dpkg-query", "-W", "-f", form], capture_output=True, text=True, check=True
    )
    rows = (line.split("\t") for line in told.stdout.splitlines())
    return {name for name, essential, kind in rows if essential == "yes" or kind == "required"}


@cache
def distributions(goal: str) -> dict[str, importlib.metadata.Distribution]:
    """The distributions in .venv that a goal's lists ask for, and what those require."""
    here = {
        d.name.lower().replace("_", "-"): d for d in importlib.metadata.distributions(path=SITE)
    }
    pins = [pin.read_text(encoding="utf-8") for pin in listed(goal)[1]]
    left = {"pip", "setuptools", *re.findall(r"^([\w.-]+)==", "\n".join(pins), re.M)}
    found = {}
    while left:
        name = left.pop().lower().replace("_", "-")
        if name in here and name not in found:
            found[name] = here[name]
            needs = [need for need in here[name].requires or () if "extra ==" not in need]
            left |= {re.match(r"[\w.-]+", need)[0] for need in needs}
    return found


def offered(goal: str) -> tuple[set[str], set[str]]:
    """The programs and the modules in .venv that a goal installs."""
    files = [file for each in distributions(goal).values() for file in each.files or ()]
    pins = "\n".join(pin.read_text(encoding="utf-8") for pin in listed(goal)[1])
    # A package that is not installed yet has at least a program or a module of its name.
    pinned = set(re.findall(r"^([\w.-]+)==", pins, re.M))
    programs = pinned | {file.name for file in files if file.parent.name == "bin"}
    modules = {name.replace("-", "_") for name in pinned}
    modules |= {file.parts[0].removesuffix(".py") for file in files}
    judges = {path.stem for path in (ROOT / ".venv").glob("judges*/*")}
    return programs | {"python", "python3"}, modules | judges


def lacking(source: Path, words: set[str], goals: list[str]) -> list[str]:
    """What of a source's commands none of the goals installs."""
    found = []
    for word in sorted(words):
        if ".venv/bin/" in word:
            program = re.match(r"[\w.-]*", word.split(".venv/bin/")[1])[0]
            if program and not any(program in offered(goal)[0] for goal in goals):
                found.append(f"{source}: {word}")
        elif word in NO_COMMANDS or not re.fullmatch(r"[a-z][\w.+-]*", word):
            continue
        elif of := owners(word):
            allowed = always_there().union(goals, *(listed(goal)[0] for goal in goals))
            if not of & allowed:
                found.append(f"{source}: {word} (package {', '.join(sorted(of))})")
    return found


def goals_of(text: str) -> list[str]:
    """Goals of the setup and packages that a source may count on."""
    return ["test", *ELSEWHERE.findall(text), *" ".join(INSTALLS.findall(text)).split()]


def tests() -> list[Path]:
    folders = [ROOT / "tests", *(ROOT / "python").glob("*/tests")]
    # make_fixtures/ made the data of tests once, on machines with the programs that log.
    found = [p for f in folders for p in f.rglob("*.py") if "make_fixtures" not in p.parts]
    return [path for path in found if path != Path(__file__).resolve()]  # it only speaks of them


class Programs(unittest.TestCase):
    def test_ci_begins_with_the_command_of_the_readme(self):
        lines = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
        frame = ("#", "set ", "cd ", "exec </dev/null")
        commands = [line for line in lines if line and not line.startswith(frame)]
        self.assertTrue(commands[0].startswith("make test"), commands[0])
        self.assertIn("\n    make test ", (ROOT / "README.md").read_text(encoding="utf-8"))

    def test_of_the_setup_are_listed(self):
        packages, pins = listed("test")
        self.assertLessEqual({"iproute2", "chromium", "fish", "zsh", "groff-base"}, packages)
        self.assertTrue(pins and all(pin.is_file() for pin in pins), pins)

    def test_that_python_starts_are_installed(self):
        for path in sorted(reached(tests())):
            name = path.relative_to(ROOT)
            if str(name) in NEVER_STARTED:
                continue
            text = path.read_text(encoding="utf-8")
            with self.subTest(path):
                self.assertEqual(lacking(name, commands_of_python(text), goals_of(text)), [])

    def test_that_cpp_starts_are_installed(self):
        sources = [p for room in ("tests", "stepwright") for p in (ROOT / room).rglob("*.cpp")]
        for path in sorted(sources):
            name = path.relative_to(ROOT)
            if str(name) in NEVER_STARTED:
                continue
            text = path.read_text(encoding="utf-8")
            with self.subTest(path):
                self.assertEqual(lacking(name, commands_of_cpp(text), goals_of(text)), [])

    def test_that_python_imports_are_installed(self):
        sources = reached(tests())
        local = {path.stem for path in sources} | {"stepwright", "stepwright_torch"}
        packages = " ".join(sorted(listed("test")[0]))
        for path in sorted(sources):
            for name in sorted(imports_of(path.read_text(encoding="utf-8")) - local):
                with self.subTest(path=path, name=name):
                    debian = re.search(rf"\bpython3-{name}\b", packages)
                    self.assertTrue(debian or name in offered("test")[1], "nothing installs it")

    def test_that_are_not_listed_are_found(self):
        ruff = 'import subprocess\nTOOL = ROOT / ".venv/bin/ruff"\nsubprocess.run([TOOL, "."])\n'
        self.assertEqual(
            lacking(Path("a.py"), commands_of_python(ruff), goals_of(ruff)),
            ["a.py: .venv/bin/ruff"],
        )
        with tempfile.TemporaryDirectory() as folder:
            sources = Path(folder, "a_test.py")
            sources.write_text('run("tools/docs/python_answers.py")\n', encoding="utf-8")
            self.assertIn("python_answers", {path.stem for path in reached([sources])})

    @unittest.skipUnless(
        shutil.which("dpkg-query"), "owners of programs are told by Debian alone (sudo apt-get)"
    )
    def test_whose_package_is_not_listed_are_found(self):
        cpp = 'int main() { return std::system("A=1 dpkg-query --version && cmake --version"); }'
        self.assertEqual(commands_of_cpp(cpp), {"dpkg-query", "cmake"})
        self.assertEqual(owners("cmake"), {"cmake"})
        node = 'subprocess.run(["node", "x.mjs"])  # (make engine)'
        self.assertLessEqual({"node"}, commands_of_python(node))
        if owners("node"):
            self.assertEqual(len(lacking(Path("a"), {"node"}, ["test"])), 1)
            self.assertEqual(lacking(Path("a"), {"node"}, goals_of(node)), [])


if __name__ == "__main__":
    unittest.main()
