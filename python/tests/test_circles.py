"""No module of the package needs a module that needs it, in a function or for its types either."""

import ast
import pathlib

ROOT = pathlib.Path(__file__).parents[1] / "laneval"


def modules() -> dict[str, ast.Module]:
    paths = {path: ".".join(["laneval", *path.relative_to(ROOT).with_suffix("").parts]) for path in ROOT.rglob("*.py")}
    return {name.removesuffix(".__init__"): ast.parse(path.read_text()) for path, name in paths.items()}


def needed(tree: ast.Module, known: set[str]) -> set[str]:
    """The modules that are imported anywhere in a module. The package itself only passes on the names of its modules."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return (found & known) - {"laneval", "laneval.compat"}


def test_no_module_needs_a_module_that_needs_it():
    trees = modules()
    arrows = {name: needed(tree, set(trees)) for name, tree in trees.items()}
    assert sum(map(len, arrows.values())) > 30, "or the arrows were not seen"

    def reached(name: str) -> set[str]:
        seen: set[str] = set()
        next_ones = [name]
        while next_ones:
            more = arrows[next_ones.pop()] - seen
            seen |= more
            next_ones += more
        return seen

    circles = {name for name in arrows if name in reached(name)}
    assert not circles
