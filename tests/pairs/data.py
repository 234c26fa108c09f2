"""The data of bits.py: random judgments and runs with everything in them that has made evaluators disagree (tests/peers/generate.py), the
same rows in other formats, arrays, `laneval gen`, the examples and stored files of the revision, and every measure with every parameter.

A folder is made once for a revision and a version of this file. What differs between builds must not be here: bytes of laneval's own formats are
made by cases.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import builds

sys.path.insert(0, str(builds.ROOT / "tests" / "peers"))
import generate  # noqa: E402

# Name, shape, groups, layout, queries, depth of generated data.
SHAPES = [
    ("mixed", "mixed", None, "sorted", 36, 90),
    ("free", "free", None, "shuffled", 28, 60),
    ("real", "real", None, "interleaved", 24, 90),
    ("many", "many", None, "crlf", 24, 90),
    ("huge", "huge", None, "unfinished", 24, 70),
    ("closed", "closed", None, "shuffled", 24, 60),
    ("tied", "tied", None, "shuffled", 24, 60),
    ("judges", "mixed", "judges", "shuffled", 24, 40),
    ("subtopics", "mixed", "subtopics", "sorted", 24, 40),
    ("preferences", "mixed", "preferences", "shuffled", 24, 40),
    ("sub-groups", "mixed", "sub-groups", "shuffled", 24, 40),
]
# The data on which measures are evaluated, by the judgments that these need. Those of FEW take the examples only.
EVALUATED = {name: (groups or "grades", f"{name}/qrels.txt", f"{name}/run.txt") for name, _, groups, *_ in SHAPES if groups != "judges"}
EVALUATED |= {"sub-groups": ("preferences", *EVALUATED["sub-groups"][1:]), "subtopics": ("subtopic", *EVALUATED["subtopics"][1:])}
EVALUATED |= {"passages": ("span", "passages/gold.csv", "passages/found.csv")}
FEW = ("free", "many", "closed", "tied")
# Values to try of any parameter; a measure knows which it takes.
NUMBERS = ("0", "0.5", "0.95", "2", "2.25", "7", "100", "1000000")
SPECIAL = ("linear", "exp2", "binary", "{1:0.5,4:9}", "{-1:0.25,-2:-1,0:0.125}", "[0.25]", "[0,0.3,0.35,1]")
CUTS = {
    "none": ("",),
    "optional": ("", "@1", "@2", "@10", "@64", "@1000"),
    "recall": ("@0", "@0.1", "@0.55", "@1"),
    "required": ("@1", "@5", "@10", "@63", "@1000"),
}


def make(build: builds.Build) -> pathlib.Path:
    """The folder of the data, made by the revision's build if it is not there."""
    version = hashlib.sha256(b"".join(path.read_bytes() for path in (pathlib.Path(__file__), pathlib.Path(generate.__file__)))).hexdigest()[:8]
    folder = builds.FOLDER / f"data-{build.name}-{version}"
    if not folder.exists():
        print(f"making data in {folder.relative_to(builds.ROOT)}", file=sys.stderr, flush=True)
        begun = folder.with_name("begun-data")
        shutil.rmtree(begun, ignore_errors=True)
        begun.mkdir()
        shutil.copytree(build.source.root / "examples", begun / "examples")
        shutil.copytree(build.source.root / "tests" / "fixtures", begun / "fixtures")
        for at, (name, shape, groups, layout, queries, depth) in enumerate(SHAPES):
            generate.write_data(begun / name, at, shape, layout, queries, depth, hard=shape == "mixed", groups=groups)
        of_mixed(begun)
        of_passages(begun)
        of_neighbours(begun)
        builds.printed(build.command, "gen", "--query-count", 3000, "--results", 100, "-o", begun / "gen")
        builds.printed(build.command, "gen", "--query-count", 50, "--results", 60, "--runs", 12, "-o", begun / "runs")
        lines = (begun / "gen" / "run.txt").read_text().splitlines(keepends=True)
        (begun / "gen" / "shuffled.txt").write_text("".join(random.Random(1).sample(lines, len(lines))))
        builds.printed(builds.PYTHON, __file__, begun)
        measures(build.command, begun)
        begun.rename(folder)
    return folder


def sets(folder: pathlib.Path) -> dict[str, list[str]]:
    """Sets for cases.txt: `of-mixed` and so on, the rows of the table of measures that are evaluated on these data."""
    found = {}
    for of in sorted(path for path in (folder / "measures").iterdir() if path.is_dir()):
        found[f"of-{of.name}"] = sorted(path.name for path in of.iterdir() if path.name != "refused" and path.read_text())
    return found


def of_mixed(folder: pathlib.Path) -> None:
    """Of the data `mixed`: groups and titles of queries, a half of the queries, two shards, and a map from documents to units."""
    judged, retrieved = ([line.split() for line in (folder / "mixed" / f"{name}.txt").read_text().splitlines()] for name in ("qrels", "run"))
    names = list(dict.fromkeys(line[0] for line in judged))
    (folder / "groups.tsv").write_text("".join(f"{name}\tg{at % 3}\n" + f"{name}\tall\n" * (at % 2) for at, name in enumerate(names)))
    (folder / "titles.tsv").write_text("".join(f"{name}\tquestion <{at}> & more\n" for at, name in enumerate(names)))
    (folder / "some.txt").write_text("".join(f"{name}\n" for name in names[::2]))
    shard = {name: at % 2 for at, name in enumerate(names)}
    for path in sorted((folder / "mixed").glob("*.txt")):
        lines = path.read_text().splitlines(keepends=True)
        for of in (0, 1):
            path.with_suffix(f".{of}").write_text("".join(line for line in lines if shard.get(line.split()[0]) == of))
    docs = dict.fromkeys(line[2] for line in [*judged, *retrieved])
    (folder / "map.tsv").write_text("".join(f"{doc}\tu{at % 40}\n" for at, doc in enumerate(docs)))


def of_passages(folder: pathlib.Path) -> None:
    """Gold passages, passages retrieved, chunks and runs of chunks."""
    draw = random.Random(3)
    to = folder / "passages"
    to.mkdir()
    gold, found, again = (["query_id,doc_id,start,end,grade\n"], ["query_id,doc_id,start,end,score\n"], ["query_id,doc_id,start,end,score\n"])
    chunked = []
    for query in range(30):
        for _ in range(draw.randrange(1, 6)):
            at = draw.randrange(900)
            gold.append(f"q{query},d{draw.randrange(8)},{at},{at + draw.randrange(20, 300)},{draw.randrange(1, 4)}\n")
        for rows in (found, again):
            places = draw.sample([(doc, at * 50) for doc in range(8) for at in range(20)], 25)
            rows += [f"q{query},d{doc},{at},{at + draw.choice((50, 80, 200))},{draw.randrange(12) / 4}\n" for doc, at in places]
        places = draw.sample([(doc, at) for doc in range(8) for at in range(6)], 20)
        chunked += [f"q{query} Q0 d{doc}#{at} {rank} {draw.randrange(30) / 4} c\n" for rank, (doc, at) in enumerate(places)]
    (to / "gold.csv").write_text("".join(gold))
    (to / "found.csv").write_text("".join(found))
    (to / "again.csv").write_text("".join(again))
    (to / "chunks.run").write_text("".join(chunked))
    (to / "chunks.csv").write_text(
        "chunk,doc,start,end\n" + "".join(f"d{doc}#{at},d{doc},{at * 200},{at * 200 + 230}\n" for doc in range(8) for at in range(6))
    )
    (to / "docs.qrels").write_text("".join(f"q{query} 0 d{doc} {draw.randrange(3)}\n" for query in range(30) for doc in range(6)))
    (to / "chunks.qrels").write_text(
        "".join(f"q{query} 0 d{doc}#{at} {draw.randrange(3)}\n" for query in range(30) for doc in range(6) for at in range(4))
    )


def of_neighbours(folder: pathlib.Path) -> None:
    """Ids and distances of nearest neighbours, as vectors of integers and floats with their lengths in front."""
    draw = random.Random(4)
    to = folder / "neighbours"
    to.mkdir()
    rows = [draw.sample(range(400), 30) for _ in range(40)]
    found = [[near if draw.random() < 0.8 else 400 + at for at, near in enumerate(draw.sample(row[:25], 20))] for row in rows]
    for name, of in (("truth", rows), ("found", found)):
        (to / f"{name}.ivecs").write_bytes(b"".join(number.to_bytes(4, "little") for row in of for number in [len(row), *row]))


def tables(folder: pathlib.Path) -> None:
    """The rows of `mixed` in formats that Python writes: it has pyarrow and NumPy."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    to = folder / "tables"
    to.mkdir()
    for name, number, at, path in (("qrels", "grade", 3, "qrels.txt"), ("run", "score", 4, "run.txt")):
        lines = [line.split() for line in (folder / "mixed" / path).read_text().splitlines()]
        kind = int if number == "grade" else float
        rows = [(line[0], line[2], kind(line[at])) for line in lines]
        columns = dict(zip(("query_id", "doc_id", number), map(list, zip(*rows))))
        for separator, end in (("\t", "tsv"), (",", "csv")):
            (to / f"{name}.{end}").write_text("".join(separator.join(map(str, row)) + "\n" for row in [tuple(columns), *rows]))
        of: dict[str, dict[str, float]] = {}
        for query, doc, value in rows:
            of.setdefault(query, {})[doc] = value
        (to / f"{name}.json").write_text(json.dumps(of))
        (to / f"{name}.jsonl").write_text("".join(json.dumps(dict(zip(columns, row))) + "\n" for row in rows))
        (to / f"{name}.records.json").write_text(json.dumps([dict(zip(columns, row)) for row in rows]))
        table = pa.table(columns)
        pyarrow.parquet.write_table(table, to / f"{name}.parquet", row_group_size=500)
        pyarrow.feather.write_feather(table, to / f"{name}.arrow", compression="uncompressed")
        text = (folder / "mixed" / path).read_bytes()
        (to / f"{name}.txt.gz").write_bytes(gzip.compress(text, 1, mtime=0))
        with pa.CompressedOutputStream(str(to / f"{name}.txt.zst"), "zstd") as file:
            file.write(text)
    draw = np.random.default_rng(5)
    labels = draw.choice([0, 0, 0, 1, 2, 3], (60, 80)).astype(np.uint8)
    np.save(to / "labels.npy", labels)
    for name, scores in (("f32", draw.random((60, 80), np.float32)), ("f64", draw.integers(0, 9, (60, 80)) / 8)):
        np.save(to / f"scores-{name}.npy", scores)
    (to / "letor.txt").write_text(
        "".join(f"{grade} qid:{query} 1:{at / 8} 2:1 # d{at}\n" for query, row in enumerate(labels) for at, grade in enumerate(row))
    )
    (to / "letor.scores").write_text("".join(f"{score!r}\n" for score in draw.random(labels.size).round(2).tolist()))


def measures(command: pathlib.Path, folder: pathlib.Path) -> None:
    """Files of names of measures, in a folder for each data set: one for each row of the table of measures, which has the row with every value of
    every parameter, and one named `examples`, which has those that `laneval measures` gives for each row. Those that cannot be evaluated on the
    data are in `refused`. The file `common` has examples that can be evaluated on any data."""
    of_facet: dict[str, dict[str, list[str]]] = {}
    for row in json.loads(builds.printed(command, "measures", "--format", "json")):
        facet = {"judgments": "grades", "document": "grades"}.get(last := row["judgments"].split()[-1], last)
        found = of_facet.setdefault(facet, {"examples": []})
        found[row["name"]] = understood(command, list(variants(row)))
        found["examples"] += [name for name in row["examples"] if "together" not in name]
    for name, (facet, qrels, run) in EVALUATED.items():
        to = folder / "measures" / name
        to.mkdir(parents=True)
        refused = []
        for row, names in of_facet[facet].items():
            if row == "examples" or name not in FEW:
                taken = evaluated(command, names, folder / qrels, folder / run)
                refused += [of for of in names if of not in taken]
                (to / row).write_text(",".join(taken))
        (to / "refused").write_text("".join(f"{of}\n" for of in dict.fromkeys(refused)))
    mixed, tied = (split((folder / "measures" / name / "examples").read_text()) for name in ("mixed", "tied"))
    (folder / "measures" / "common").write_text(",".join(name for name in mixed if name in tied))


def variants(row: dict[str, Any]) -> Iterator[str]:
    """A row of the table with each value of each parameter, of which some are none."""
    cuts = next(of for word, of in CUTS.items() if word in row["cutoff"])
    yield from (f"{row['name']}{cut}" for cut in cuts)
    for param in row["parameters"]:
        needs = f"{param['needs']}," if param["needs"] else ""
        for value in dict.fromkeys([*re.findall(r"[a-z][\w-]*", param["values"]), *NUMBERS, *SPECIAL]):
            wanted = [cut for cut in cuts if cut in ("", "@10", "@0.1") and not (value == "k" and not cut) and not (value == "together" and cut)]
            yield from (f"{row['name']}({needs}{param['name']}={value}){cut}" for cut in wanted)


def understood(command: pathlib.Path, names: list[str]) -> list[str]:
    """Those of some names that mean a measure: of the others the command points to what is wrong."""
    said = subprocess.run([str(command), "measures", *names], capture_output=True, text=True).stderr
    wrong = set(re.findall(r"^ *(\S+)\n +\^", said, re.MULTILINE))
    found = [name for name in names if name not in wrong]
    builds.printed(command, "measures", *found)
    return found


def evaluated(command: pathlib.Path, names: list[str], qrels: pathlib.Path, run: pathlib.Path) -> list[str]:
    """Those of some measures that can be evaluated."""
    words = [str(command), "eval", str(qrels), str(run), "-q", "-m", ",".join(names)]
    if not names or subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        return names
    half = len(names) // 2
    return [] if half == 0 else evaluated(command, names[:half], qrels, run) + evaluated(command, names[half:], qrels, run)


def split(names: str) -> list[str]:
    """Names of measures, which commas separate; those inside of brackets are of the names."""
    found, depth = [""], 0
    for letter in names:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


if __name__ == "__main__":
    tables(pathlib.Path(sys.argv[1]))
