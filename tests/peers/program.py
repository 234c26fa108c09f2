"""The laneval program under test."""

import json
import math
import subprocess
import sys
from collections import defaultdict

import plain
from names import Names
from tally import CLOSE, within, within_an_ulp


def with_number(name, cutoff):
    """`name@cutoff` with the cutoff in its shortest form: IPrec@0.1, P@5."""
    return f"{name}@{float(cutoff):g}"


def tidy(name, dropped=()):
    """A measure name without the parameters in `dropped`, the others in order and the cutoff in shortest form."""
    base, params, cutoff = plain.split(name)
    kept = ",".join(f"{key}={value}" for key, value in sorted(params.items()) if f"{key}={value}" not in dropped)
    base += f"({kept})" if kept else ""
    return with_number(base, cutoff) if cutoff else base


class Laneval:
    """Runs the command under test and checks the means it prints."""

    def __init__(self, path, tally):
        self.path, self.tally, self.names = path, tally, Names(path)

    def evaluate(self, data, measures, flags=(), dropped=()):
        """{measure: {topic: value}} of one command."""
        command = [self.path, "eval", str(data.qrels), str(data.run), "--per-query", "--format", "jsonl", *flags]
        command += [part for measure in measures for part in ("-m", measure)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\nexit {done.returncode}: {done.stderr}")
        values, summaries = defaultdict(dict), []
        for row in map(json.loads, done.stdout.splitlines()):
            measure, topic = tidy(row["measure"], dropped), row["query_id"]
            value = math.nan if row["value"] is None else float(row["value"])
            if not topic:
                summaries.append((measure, row["stat"], value))
            elif topic in values[measure]:
                sys.exit(f"{' '.join(command)}\nprints {measure} of topic {topic} twice")
            else:
                values[measure][topic] = value
        self.check_summaries(data, values, summaries)
        return values

    def trec_eval(self, data, arguments):
        """{name as printed: {topic or "all": text as printed}} of `laneval trec-eval -q`."""
        command = [self.path, "trec-eval", "-q", *arguments, str(data.qrels), str(data.run)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\nexit {done.returncode}: {done.stderr}")
        values = defaultdict(dict)
        for name, topic, text in (line.split("\t") for line in done.stdout.splitlines()):
            values[name.strip()][topic] = text.strip()
        return values

    def check_summaries(self, data, values, summaries):
        for measure in values.keys() - {measure for measure, _, _ in summaries}:
            self.tally.add("math.fsum", "mean", math.nan, math.nan, False, f"no summary of {measure} {data.label}")
        for measure, stat, summary in summaries:
            topics = list(values[measure].values())
            if measure.startswith("GM"):
                stat = "geometric mean"
                expected = math.exp(math.fsum(map(math.log, topics)) / len(topics))
                same = within(CLOSE)(summary, expected)
            elif stat == "mean":
                expected = math.fsum(topics) / len(topics)
                same = within_an_ulp(summary, expected)
            elif stat == "sum":
                expected = math.fsum(topics)
                same = summary == expected
            else:
                continue
            self.tally.add("math.fsum", stat, summary, expected, same, f"{measure} {data.label}")
