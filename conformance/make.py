"""Makes the files of the suite, conformance/v1 and mistakes.json, of cases and definitions.

    python3 conformance/make.py            writes the files
    python3 conformance/make.py --check    says whether they are what it would write; exit code 1 if not
"""

import hashlib
import json
import sys
from pathlib import Path

import mistakes
from cases import CASES
from definitions import DEFINITIONS, short
from formulas import Query, value

HERE = Path(__file__).resolve().parent
VERSION = "v1"
# What is not made here, and is in the list of checksums as it stands.
KEPT = ["libraries.json", "LICENSE"]


def lines(head, key, rows):
    """A JSON document with a row a line, so that a change is a line."""
    body = ",\n".join(f"  {compact(row)}" for row in rows)
    return f'{{{compact(head)[1:-1]}, "{key}": [\n{body}\n]}}\n'


def compact(row):
    return json.dumps(row, ensure_ascii=False)


def tolerance(choices):
    """Which class of tolerance a value has: a mean over orders, or over pairs, may be added up in any order."""
    if choices.digits is not None:
        return f"digits:{choices.digits}"
    return "sum" if choices.order == "average" or choices.measure == "AUC" else "bits"


def stored(found, choices):
    """A value as text with all its digits, and as bits."""
    if found is None:
        return None
    return {"v": repr(float(found)), "hex": float(found).hex(), "class": tolerance(choices)}


def files():
    """The content of each file by its path here."""
    found = {name: {case["id"]: value(Query(case), row.choices) for case in CASES} for name, row in DEFINITIONS.items()}
    head = {"schema": 1, "version": VERSION}
    definitions = [
        {
            "id": name,
            "measure": row.measure,
            "options": row.options,
            "formula": row.formula,
            "libraries": [{"library": short(name), "name": name} for name in row.libraries],
            "unless": row.unless,
        }
        for name, row in DEFINITIONS.items()
    ]
    values = [
        {"id": name, "values": {case: stored(of, DEFINITIONS[name].choices) for case, of in by_case.items()}} for name, by_case in found.items()
    ]
    made = {
        f"{VERSION}/cases.json": lines(head, "cases", CASES),
        f"{VERSION}/definitions.json": lines(head, "definitions", definitions),
        f"{VERSION}/values.json": lines(head, "values", values),
        "mistakes.json": lines({"schema": 1, "suite": VERSION, "says": mistakes.SAYS}, "mistakes", mistakes.rows(CASES, found)),
    }
    texts = {name.split("/")[1]: text.encode() for name, text in made.items() if "/" in name}
    texts |= {name: (HERE / VERSION / name).read_bytes() for name in KEPT}
    sums = {name: hashlib.sha256(texts[name]).hexdigest() for name in sorted(texts)}
    index = {**head, "licence": "CC0-1.0", "files": sums}
    made[f"{VERSION}/index.json"] = json.dumps(index, indent=1) + "\n"
    return made


def main():
    made = files()
    wrong = [name for name, text in made.items() if not (HERE / name).exists() or (HERE / name).read_text(encoding="utf-8") != text]
    if sys.argv[1:] == ["--check"]:
        for name in wrong:
            print(f"conformance/{name} is not what conformance/make.py makes")
        print(f"{len(made) - len(wrong)} of {len(made)} files of conformance are as they are made, and the checksums of {len(KEPT)} more")
        sys.exit(1 if wrong else 0)
    for name in wrong:
        (HERE / name).parent.mkdir(exist_ok=True)
        (HERE / name).write_text(made[name], encoding="utf-8")
        print(f"wrote conformance/{name}")


if __name__ == "__main__":
    main()
