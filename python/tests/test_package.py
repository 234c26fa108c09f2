"""The package itself: it has every public name, and imports the modules of those that are asked for."""

import ast
import pathlib
import pickle
import subprocess
import sys

import laneval


def printed(script: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_package_imports_no_module_but_the_native_one():
    loaded = "print(sorted({m for m in sys.modules if m.startswith('laneval.') or m in ('typing', 're', 'json', 'inspect')} - before))"
    script = f"import sys; before = set(sys.modules); import laneval; {loaded}"
    assert printed(script) == "['laneval._native']"
    after = printed(f"import sys; before = set(sys.modules); import laneval; laneval.evaluate; {loaded}")
    assert "laneval._api" in after
    assert "laneval._comparison" not in after


def test_checkers_of_types_see_each_name_where_it_is_found():
    """They read what is under `TYPE_CHECKING`, which never runs."""
    tree = ast.parse(pathlib.Path(laneval.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
    assert sorted(seen) == sorted(laneval.__all__)
    for name, module in seen.items():
        __import__(module)
        assert getattr(laneval, name) is getattr(sys.modules[module], name), name


def test_all_names_are_there():
    assert set(laneval.__all__) <= set(dir(laneval))
    script = "import laneval; before = dir(laneval); from laneval import *; print(set(laneval.__all__) <= set(before) & set(globals()))"
    assert printed(script) == "True"


def test_a_name_that_is_not_there():
    script = """
import laneval
try:
    laneval.evalute
except AttributeError as error:
    print(error, error.name, error.obj is laneval)
print(hasattr(laneval, "nothing"))
"""
    assert printed(script) == "module 'laneval' has no attribute 'evalute' evalute True\nFalse"


def test_what_was_pickled_is_read_before_anything_is_asked_for():
    scores = laneval.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "RR")
    assert printed(f"import pickle; print(pickle.loads({pickle.dumps(scores)!r})['RR'])") == "1.0"
