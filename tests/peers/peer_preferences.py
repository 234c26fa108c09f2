"""Preferences: the fourteen prefs_* in plain Python (`plain_preferences.py`), of groups and of groups with sub-groups.

`laneval eval` has the same bits, and `laneval trec-eval` prints the same 4 decimals, as version 9 (levels and scores as f32) and as version 10.
"""

import itertools
import math
from collections import defaultdict

import plain_preferences
from inputs import data_sets
from tally import HALF_A_DIGIT, as_f32, same_bits

# -J changes nothing: documents that no line names count in no case.
DEPTHS = (((), None), (("-M", "4"), 4), (("-J",), None), (("-M", "10", "-J"), 10))
# `laneval eval` refuses a line that stands twice, and trec_eval counts it twice.
KINDS = ("", "negative ", "repeated ")
FORMATS = {"preferences": "qrels_prefs", "sub-groups": "prefs"}



def same(number):
    return number


def read_preferences(data, number):
    """{topic: [(group, sub-group, docno, level)]} of either format, levels as `number` makes them."""
    topics = defaultdict(list)
    for topic, group, *subgroup, docno, level in data.read_lines():
        topics[topic].append((group, *(subgroup or "0"), docno, number(float(level))))
    return topics


def rankings(run, number, depth):
    """{topic: docnos}: score descending, then docno ascending by bytes."""
    ranked = {topic: sorted(scores, key=lambda docno: (-number(scores[docno]), docno.encode())) for topic, scores in run.items()}
    return {topic: docnos[:depth] for topic, docnos in ranked.items()}


def plain_values(lines, ranked):
    """{measure: {topic: value}}; a topic that the run lacks is an empty ranking."""
    values = defaultdict(dict)
    for topic, of_topic in lines.items():
        for measure, value in plain_preferences.values(of_topic, ranked.get(topic, ())).items():
            values[measure][topic] = value
    return values


def compare_eval(laneval, tally, data, flags, depth):
    for score, number in (("f64", same), ("f32", as_f32)):
        expected = plain_values(read_preferences(data, same), rankings(data.read_run(), number, depth))
        given = ("--facet", "preference", "--ties", "docno-asc", "--score-type", score, *flags)
        found = laneval.evaluate(data, list(expected), given)
        for measure, values in expected.items():
            tally.add_topics("preferences", measure, found[measure], values, same_bits, f"{data.label} {' '.join(given)}")


def compare_printed(laneval, tally, data, rel_format, flags, depth):
    for version, number, others in (("9", as_f32, ()), ("10", same, ("-c",))):
        lines, ranked = read_preferences(data, number), rankings(data.read_run(), number, depth)
        if version == "9":  # which leaves out topics that the run lacks
            lines = {topic: of_topic for topic, of_topic in lines.items() if topic in ranked}
        expected = plain_values(lines, ranked)
        given = ("--profile", version, "-R", rel_format, "-m", "all_prefs", *others, *flags)
        found, place = laneval.trec_eval(data, given), f"{data.label} {' '.join(given)}"
        peer = "preferences printed"
        del found["runid"]
        queries = float(found.pop("num_q")["all"])
        tally.add(peer, "num_q", queries, len(lines), queries == len(lines), place)
        for measure in sorted(found.keys() | expected.keys()):
            mine = {topic: float(text) for topic, text in found.get(measure, {}).items()}
            summary = mine.pop("all", math.nan)
            topics = expected[measure].values()
            whole = math.fsum(topics) / (1 if "_num_" in measure else len(lines))
            tally.add(peer, measure, summary, whole, HALF_A_DIGIT(summary, whole), f"{place} summary")
            printed = {topic: float(f"{value:.4f}") for topic, value in expected[measure].items()}
            tally.add_topics(peer, measure, mine, printed, same_bits, place)


def check(laneval, tally, folder, options):
    seeds = [111] + ([] if options.quick else [112]) + options.seeds
    for kind, (groups, rel_format) in itertools.product(KINDS, FORMATS.items()):
        recipes = [{"seed": seed, "groups": kind + groups, "layout": layout, "queries": 40, "depth": depth, "hard": True}
                   for seed in seeds for layout, depth in (("unfinished", 8), ("shuffled", 30))[bool(kind):]]
        for data in data_sets(folder, recipes):
            for flags, depth in DEPTHS:
                if kind != "repeated ":
                    compare_eval(laneval, tally, data, flags, depth)
                compare_printed(laneval, tally, data, rel_format, flags, depth)
