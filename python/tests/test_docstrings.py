"""Every public name of the package has a docstring with what whoever calls it has to know.

Public are all names in `__all__` of a module whose own name begins with no underscore, and the public methods and properties of their classes.
Each has a docstring, and of that is asked:

* arguments: each one is named in it, between backticks; `**options` with the class that lists them;
* answers: it returns something, or begins as the name of a thing does ("The ids of the queries");
* shapes: of lists, dicts and arrays, between backticks, such as `[query, measure]` or `{query: {measure: value}}`, and of an argument that is
  an array such as `labels[query, rank]`; of tables, what has a row;
* numbers: their range or what they count;
* errors: which are raised and if what, where there are arguments or the body raises any, with all that the body raises itself;
* examples: functions and classes have one of their own; methods and properties are in one of their class. They run, as doctests.

Fields of named tuples and of dicts of keywords, and constants, have a string below them. What is let off says why, below.
"""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import laneval

pytest.importorskip("ir_measures")  # which its provider needs to be imported

# Names that are let off everything, with the reason.
LET_OFF = {
    "laneval.__version__": "a text, known by that name everywhere",
    "laneval.compat.sentence_transformers.InformationRetrievalEvaluator": "made of a class of sentence-transformers, when it is asked for",
}

# Classes that are made by calling something else, which their docstring names.
MADE_BY = {
    "laneval.CheckReport": "check",
    "laneval.Comparison": "compare",
    "laneval.CustomMeasure": "measure",
    "laneval.PairDeltas": "Comparison.per_query",
    "laneval.Identification": "identify",
    "laneval.Matrix": "build",
    "laneval.PerQuery": "per_query",
    "laneval.Pools": "pools",
    "laneval.ResidentMatrix": "Matrix.load",
    "laneval.RunScores": "evaluate",
    "laneval.Scores": "evaluate_runs",
    "laneval.Summary": "evaluate",
    "laneval.UnmatchedQueries": "missing",
    "laneval.compat.ranx.Report": "compare",
}

# What takes arguments and raises nothing of its own.
NEVER_RAISES = {
    "laneval.InputError.__init__": "it is an error itself",
    "laneval.MeasureError.__init__": "it is an error itself",
    "laneval.compat.ranx.Report.format_score": "of any number there is a text",
    "laneval.compat.ranx.Report.get_metric_label": "of any text there is a label",
}

# Methods that are in no example.
NO_EXAMPLE = {
    "laneval.CustomMeasure.values": "`evaluate` calls it with a matrix that nothing else has",
    "laneval.compat.ranx.Qrels.from_ir_datasets": "it downloads",
}

# Modules whose examples need an engine that is started first: `engines` runs them.
ON_ENGINES = {"laneval.ray", "laneval.spark"}

NOUN = re.compile(r"(The|A|An|All|Each|Whether|Queries|Judged queries|Notes) ")
SHAPE = re.compile(r"`\w*(\[[^`\]]+\]|\{[^`]+:[^`]+\})")
ROWS = re.compile(r"\brows?\b")
RANGE = re.compile(
    r"\bfrom [−-]?(\d|inf)|\bto \d|\babove \d|\bat (least|most) \d|\b\d or (more|less)\b|\bnumbers? of\b|\bbetween \d|\b0 or 1\b", re.IGNORECASE
)
RAISES = re.compile(r"[Rr]aises (what `[\w.]+` raises|(only )?`\w+`[^.]*\b(if|where|unless|when)\b)")
CONTAINER = re.compile(r"\b(list|dict|tuple|Sequence|Mapping|Iterable|ndarray|NDArray)\[")
TABLE = re.compile(r"\b(DataFrame|Dataset)\b")
NUMBER = re.compile(r"\b(int|float)\b")


class Public(NamedTuple):
    """A public name."""

    name: str
    of: Any
    owner: type | None
    """The class, of a member."""


def public_modules() -> list[Any]:
    """The modules whose names have no part that begins with an underscore."""
    found = [laneval]
    for module in pkgutil.walk_packages(laneval.__path__, "laneval."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            found.append(importlib.import_module(module.name))
    return found


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class has from this package, also from a private base."""
    for base in reversed(owner.__mro__):
        if not base.__module__.startswith("laneval"):
            continue
        for name, of in vars(base).items():
            plain = of.__func__ if isinstance(of, (classmethod, staticmethod)) else of
            if (not name.startswith("_") or name in ("__getitem__", "__add__", "__call__")) and (
                inspect.isfunction(plain) or isinstance(plain, property)
            ):
                yield name, plain


def all_public() -> dict[str, Public]:
    found: dict[str, Public] = {}
    for module in public_modules():
        for name in getattr(module, "__all__", []):
            full = f"{module.__name__}.{name}"
            if full in LET_OFF:
                continue
            of = getattr(module, name)
            found[full] = Public(full, of, None)
            if inspect.isclass(of):
                found |= {f"{full}.{member}": Public(f"{full}.{member}", one, of) for member, one in members(of)}
    return found


PUBLIC = all_public()


def is_constant(of: Any) -> bool:
    return not inspect.isclass(of) and not inspect.isfunction(of) and not isinstance(of, property)


def function_of(of: Any) -> Callable[..., Any]:
    return of.fget if isinstance(of, property) else of


@functools.cache
def source_of(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(module)))


@functools.cache
def strings_below(module: str, owner: str | None) -> dict[str, str]:
    """The strings below assignments, of a module or of one of its classes."""
    body = source_of(module).body
    if owner is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
    found = {}
    for node, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    found[target.id] = str(below.value.value)
    return found


def home_of(public: Public) -> str:
    """The module that assigns a constant, which others only pass on."""
    name = public.name.rpartition(".")[2]
    loaded = [module for at, module in sys.modules.items() if at.startswith("laneval.") and vars(module).get(name) is public.of]
    assigned = [module.__name__ for module in loaded if name in assignments(module.__name__)]
    assert len(assigned) == 1, f"{public.name} is assigned in {assigned}"
    return assigned[0]


def assignments(module: str) -> set[str]:
    """The names that a module assigns."""
    nodes = [node for node in source_of(module).body if isinstance(node, (ast.Assign, ast.AnnAssign))]
    targets = [target for node in nodes for target in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def raised(function: Callable[..., Any]) -> set[str]:
    """The names of exceptions that the body of a function raises."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise))
    return {call.func.id for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}


def attributes(owner: type) -> set[str]:
    """The public attributes that `__init__` sets."""
    made = vars(owner).get("__init__")
    if not inspect.isfunction(made):
        return set()
    tree = ast.parse(textwrap.dedent(inspect.getsource(made)))
    targets = [target for node in ast.walk(tree) if isinstance(node, ast.Assign) for target in node.targets]
    names = {target.attr for target in targets if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"}
    return {name for name in names if not name.startswith("_")}


def in_a_line(doc: str | None) -> str:
    return " ".join((doc or "").split())


def quoted(doc: str) -> str:
    """What stands between backticks."""
    return " ".join(re.findall(r"`([^`]+)`", doc))


def examples(doc: str) -> str:
    return "\n".join(re.findall(r"^ *(?:>>>|\.\.\.)(.*)$", doc, re.MULTILINE))


def faults_of_call(function: Callable[..., Any], doc: str, name: str) -> Iterator[str]:
    """What a docstring does not say of the arguments, the answer and the errors of a function."""
    signature = inspect.signature(function)
    arguments = [argument for at, argument in enumerate(signature.parameters.values()) if not (at == 0 and argument.name in ("self", "cls"))]
    doc = in_a_line(doc)
    words = quoted(doc)
    for argument in arguments:
        kind = str(argument.annotation)
        if not re.search(rf"\b{argument.name}\b", words):
            yield f"names no argument `{argument.name}`"
        if argument.kind is argument.VAR_KEYWORD and "Unpack" in kind and not re.search(r"\b(Comparison)?Options\b", words):
            yield f"does not say which class lists the keywords of `{argument.name}`"
        if re.match(r"Array\b", kind) and not re.search(rf"`{argument.name}\[", doc):
            yield f"has no shape of `{argument.name}`"
    answer = str(signature.return_annotation)
    takes = " ".join(str(argument.annotation) for argument in arguments)
    if answer not in ("None", "NoReturn"):
        if not NOUN.match(doc) and not re.search(r"\breturns?\b", doc, re.IGNORECASE):
            yield "does not say what is returned"
        if CONTAINER.search(answer) and not SHAPE.search(doc):
            yield "has no shape of what is returned"
        if TABLE.search(answer) and not ROWS.search(doc):
            yield "does not say what has a row"
    if (NUMBER.search(answer) or NUMBER.search(takes)) and not RANGE.search(doc):
        yield "has no range of its numbers"
    raises = raised(function)
    if (arguments or raises) and name not in NEVER_RAISES and not RAISES.search(doc):
        yield "does not say what is raised, and if what"
    for error in sorted(raises):
        if not re.search(rf"\b{error}\b", words):
            yield f"does not name `{error}`, which is raised"


def faults_of_class(public: Public) -> Iterator[str]:
    owner, doc = public.of, public.of.__doc__
    if ">>>" not in doc:
        yield "has no example"
    made = vars(owner).get("__init__") or next((vars(base)["__init__"] for base in owner.__mro__ if "__init__" in vars(base)), None)
    if public.name in MADE_BY:
        if not re.search(rf"\b{re.escape(MADE_BY[public.name])}\b", quoted(doc)):
            yield f"does not say that `{MADE_BY[public.name]}` makes it"
    elif inspect.isfunction(made) and made.__module__.startswith("laneval"):
        yield from faults_of_call(made, f"The {doc}\n{made.__doc__ or ''}", f"{public.name}.__init__")
    for name in attributes(owner):
        if not re.search(rf"\b{name}\b", quoted(doc)):
            yield f"names no attribute `{name}`"
    fields = getattr(owner, "_fields", None) or (owner.__annotations__ if hasattr(owner, "__total__") else ())
    below = strings_below(owner.__module__, owner.__name__) if fields else {}
    for field in fields:
        if field not in below:
            yield f"has no string below `{field}`"
        elif NUMBER.search(str(owner.__annotations__[field])) and not RANGE.search(in_a_line(below[field] + doc)):
            yield f"has no range of `{field}`"


def faults(public: Public) -> Iterator[str]:
    """What a public name does not say."""
    doc = public.of.__doc__ if not is_constant(public.of) else None
    if is_constant(public.of):
        if public.name.rpartition(".")[2] not in strings_below(home_of(public), None):
            yield "has no string below it"
        return
    if not doc or not doc.strip():
        yield "has no docstring"
        return
    doc = inspect.cleandoc(doc)
    if inspect.isclass(public.of):
        yield from faults_of_class(public)
        return
    yield from faults_of_call(function_of(public.of), doc, public.name)
    name = public.name.rpartition(".")[2]
    if public.owner is None:
        if ">>>" not in doc:
            yield "has no example"
        return
    docs = [public.owner.__doc__, *(of.__doc__ for _, of in members(public.owner))]
    if not name.startswith("__") and public.name not in NO_EXAMPLE and not any(re.search(rf"\.{name}\b", examples(of or "")) for of in docs):
        yield "is in no example of its class"


@pytest.mark.parametrize("name", PUBLIC)
def test_the_docstring_says_all(name):
    assert not list(faults(PUBLIC[name]))


def test_all_public_names_were_seen():
    modules = {module.__name__ for module in public_modules()}
    assert {"laneval", "laneval.compat.ranx", "laneval.lightgbm", *ON_ENGINES} <= modules
    assert {"laneval.evaluate", "laneval.Matrix.evaluate", "laneval.Qrels.queries", "laneval.compat.ranx.Run.add"} <= set(PUBLIC)
    assert len(PUBLIC) > 200
    named = {**MADE_BY, **NO_EXAMPLE, **{name.removesuffix(".__init__"): "" for name in NEVER_RAISES}}
    assert set(named) <= set(PUBLIC), "what is let off is there"


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_modules_have_docstrings(module):
    assert (module.__doc__ or "").strip()


def test_examples_are_found_and_not_skipped():
    """What has an example is among what `--doctest-modules` runs, and only examples on engines may be skipped there."""
    homes = {sys.modules[public.of.__module__] for public in PUBLIC.values() if not is_constant(public.of) and not isinstance(public.of, property)}
    run = {test.docstring for home in homes for test in doctest.DocTestFinder().find(home)}
    for name, public in PUBLIC.items():
        doc = "" if is_constant(public.of) else public.of.__doc__
        if ">>>" in doc:
            assert doc in run, f"{name}: no doctest has its example"
            assert "+SKIP" not in doc or name.startswith(tuple(f"{module}." for module in ON_ENGINES)), name
