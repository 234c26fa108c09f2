"""The files that laneval and its peers read."""

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import plain
from generate import write_data


@dataclass(frozen=True)
class Data:
    """One qrels file and one run."""

    qrels: Path
    run: Path
    label: str

    def read_qrels(self):
        return self._read(self.qrels, 3, plain.value_of)

    def read_lines(self):
        """The lines of the qrels as lists of fields, for judgments by facet."""
        return [line.split() for line in self.qrels.read_text(encoding="utf-8").splitlines()]

    def read_groups(self):
        """{topic: {group: {docno: grade}}}, groups bytewise."""
        topics = defaultdict(lambda: defaultdict(dict))
        for topic, group, docno, grade in sorted(self.read_lines(), key=lambda fields: fields[1].encode()):
            topics[topic][group][docno] = int(grade)
        return topics

    def read_run(self):
        return self._read(self.run, 4, float)

    def must_have_many_grades(self):
        """Stops unless more grades are distinct than laneval has codes for."""
        distinct = {grade for judged in self.read_qrels().values() for grade in judged.values() if grade >= 0}
        if len(distinct) <= 253:
            sys.exit(f"{self.label} has {len(distinct)} distinct grades, where more than 253 are to be compared")

    @staticmethod
    def _read(path, column, number):
        """{topic: {docno: number}} in the order of the file."""
        topics = defaultdict(dict)
        for fields in (line.split() for line in path.read_text(encoding="utf-8").splitlines()):
            topics[fields[0]][fields[2]] = number(fields[column])
        return dict(topics)


def data_sets(folder, recipes, runs=("run", "run2")):
    """Write each recipe (keyword arguments of `write_data`) and yield one Data per run."""
    for recipe in recipes:
        label = " ".join(f"{key}={value}" for key, value in recipe.items())
        paths = write_data(folder / label.replace(" ", "_"), **recipe)
        for path in paths[1:]:
            if path.stem in runs:
                yield Data(paths[0], path, f"[{label} {path.name}]")


def by_rank(run):
    """The run with the scores n..1 in laneval's order.

    Compat takes an absent document's score for 0, and so asks for positive scores, and orders ties by the qrels.
    """
    ranked = {topic: sorted(scores, key=lambda docno: (scores[docno], docno.encode())) for topic, scores in run.items()}
    return {topic: {docno: float(n) for n, docno in enumerate(docnos, 1)} for topic, docnos in ranked.items()}
