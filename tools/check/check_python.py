"""Prints file:line of each function of Python that is too long (its docstring aside), too deep or
takes too many parameters by their place, and each circle of modules of a package that need each
other, for types alone or more. Functions of C++ are held to the same by .clang-tidy.
"""

import ast
import graphlib
import sys
from pathlib import Path

FOLDERS = ("bench", "examples", "python", "stepwright", "tests", "tools")
LONGEST = 60
DEEPEST = 4  # blocks inside each other
MOST_PARAMETERS = 5
BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(function: Function) -> int:
    """Lines of a function without its docstring."""
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    text = first.end_lineno - first.lineno + 1 if documented else 0
    return function.end_lineno - function.lineno + 1 - text


def depth(node: ast.AST) -> int:
    """How many blocks stand inside each other below a node, functions in it aside."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            deepest = max(deepest, depth(child) + isinstance(child, BLOCKS))
    chained = isinstance(node, ast.If) and [type(each) for each in node.orelse] == [ast.If]
    return max(deepest - 1, *map(depth, node.body)) if chained else deepest  # elif


def wrong(function: Function) -> list[str]:
    """What a function breaks."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    parameters = len(names) - (names[:1] in (["self"], ["cls"]))
    return [
        f"{count} {what}, at most {most}"
        for count, what, most in (
            (lines_of(function), "lines", LONGEST),
            (depth(function), "blocks inside each other", DEEPEST),
            (parameters, "parameters by place", MOST_PARAMETERS),
        )
        if count > most
    ]


def bad_functions(name: str, tree: ast.Module) -> list[str]:
    """One line for each rule that a function of a module breaks."""
    return [
        f"{name}:{node.lineno}: {node.name} has {what}"
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for what in wrong(node)
    ]


def needed(tree: ast.Module) -> set[str]:
    """The modules of its own package that a module imports, anywhere."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {name.split(".")[0] for name in names}
    return found


def circle(package: dict[str, ast.Module]) -> str:
    """A circle of modules, as "a -> b -> a"; empty where there is none."""
    graph = {name: needed(tree) & package.keys() for name, tree in package.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return " -> ".join(reversed(error.args[1]))
    return ""


def findings(root: Path) -> list[str]:
    """One line for each rule that a source of the repository breaks."""
    found = []
    packages: dict[Path, dict[str, ast.Module]] = {}
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found += bad_functions(str(path.relative_to(root)), tree)
        packages.setdefault(path.parent, {})[path.stem] = tree
    for folder, modules in packages.items():
        if round_trip := circle(modules):
            found.append(f"{folder.relative_to(root)}: modules in a circle: {round_trip}")
    return found


def main() -> int:
    """Checks the repository given as the argument, or else the one that holds this file."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    found = findings(root)
    print("\n".join(found) if found else "python: small functions, no circles")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
