#!/usr/bin/env python3
"""Write the golden file: what pytrec_eval-terrier says about one small fixed data set.

    golden.py --laneval target/release/laneval [--out DIR]

writes `golden.qrels`, `golden.run` and `golden.json`. Tests compare laneval with it bit for bit and so
need no Python; laneval is asked for the names of its measures, and for nothing else here. Scores are
compared as f32 (ties: docno descending) and only topics present in both files are listed. Every value is
the shortest text that reads back to the same f64.
"""

import argparse
import json
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

from generate import write_data
from inputs import Data
from names import Names
from peer_pytrec_eval import all_arguments, pytrec_values

TOOL = "pytrec-eval-terrier"
RECIPE = {"seed": 9, "shape": "mixed", "layout": "interleaved", "queries": 24, "depth": 60, "hard": True}
NOTE = ("run: golden.run, qrels: golden.qrels; scores as f32, topics in both files (--score-type f32 --queries common). "
        "Each case was made with relevance_level=rel and judged_docs_only_flag=judged_only. Measures are named without rel. "
        "GMAP holds ln(max(AP, 1e-5)), GMBpref ln(max(Bpref, 1e-5)). "
        "IPrec and IPrec11 are nan where -J leaves a topic without results: "
        "laneval scores 0 there.")


def as_text(value):
    """The text of a value: 3.0 for a count, `nan` for nan."""
    return repr(float(value))


def golden_case(names, qrels, run, rel, judged_only):
    values = pytrec_values(qrels, run, all_arguments(names), names.trec_measure, rel, judged_only)
    measures = {name: {topic: as_text(value) for topic, value in sorted(topics.items())}
                for name, topics in sorted(values.items())}
    return {"rel": rel, "judged_only": judged_only, "measures": measures}


def dump(golden, path):
    """One measure on each line: small, and a changed value is a one-line diff."""
    head = ",\n".join(f"{json.dumps(key)}:{json.dumps(golden[key], ensure_ascii=False)}" for key in golden if key != "cases")
    cases = []
    for case in golden["cases"]:
        lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(topics, ensure_ascii=False, separators=(',', ':'))}"
                           for name, topics in case["measures"].items())
        cases.append(f'{{"rel":{case["rel"]},"judged_only":{json.dumps(case["judged_only"])},"measures":{{\n{lines}}}}}')
    path.write_text(f'{{{head},\n"cases":[\n' + ",\n".join(cases) + "\n]}\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--laneval", required=True, metavar="PATH", help="the laneval program")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "fixtures", metavar="DIR", help="default: %(default)s")
    options = parser.parse_args()
    names, out = Names(options.laneval), options.out
    with tempfile.TemporaryDirectory() as folder:
        qrels, run, _ = write_data(folder, **RECIPE)
        shutil.copyfile(qrels, out / "golden.qrels")
        shutil.copyfile(run, out / "golden.run")
    data = Data(out / "golden.qrels", out / "golden.run", "golden")
    cases = [golden_case(names, data.read_qrels(), data.read_run(), rel, judged_only)
             for judged_only in (False, True) for rel in (1, 2)]
    golden = {"tool": TOOL, "version": version(TOOL), "note": NOTE, "recipe": RECIPE, "cases": cases}
    dump(golden, out / "golden.json")


if __name__ == "__main__":
    main()
