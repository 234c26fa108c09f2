"""Cases as short text: judgments `a2 b-1`, then the run `c5 a3` with documents and scores in the order of the file."""

import re

ITEM = re.compile(r"([a-z]+)(-?[0-9.]+)")


def read(name, k, judgments, run, tests, note):
    """A case, as `cases.json` has it."""
    graded = [(document, int(grade)) for document, grade in map(item, judgments.split())]
    return {
        "id": name,
        "k": k,
        "qrels": [list(row) for row in graded],
        "run": [list(item(row)) for row in run.split()],
        "tests": tests.split(),
        "note": note,
    }


def item(text):
    """The document of an item, and its number as text."""
    return ITEM.fullmatch(text).groups()


def write(case):
    """The judgments and the run of a case as short text."""
    return [" ".join(f"{document}{number}" for document, number in case[key]) for key in ("qrels", "run")]
