"""Judges: `--judges mean`, `min` and `max` and the *_avgjg of trec_eval, from pytrec_eval's values of each judge alone.

Under `--score-type f32` the bits are equal, the mean being the sum in the bytewise order of the judges, divided by their number; what
`laneval trec-eval -R qrels_jg` prints has the same 4 decimals.
"""

import itertools
import math
from collections import defaultdict

from inputs import data_sets
from peer_pytrec_eval import MULTIPLES, pytrec_values
from plain_preferences import in_turn
from program import tidy
from tally import HALF_A_DIGIT, as_f32, same_bits

MULTIPLES_TEXT = ",".join(map(str, MULTIPLES))
ARGUMENTS = (
    "map", "Rprec", "recip_rank", "ndcg", "bpref", "infAP", "set_F", "G", "map_cut.3,10", "P.1,2,3,5,10,100", "recall.1,3,10",
    "ndcg_cut.1,5,20", "success.1,5", f"Rprec_mult.{MULTIPLES_TEXT}",
)
AVERAGED = ("map", "P.1,2,3,5,10,100", f"Rprec_mult.{MULTIPLES_TEXT}")  # as map_avgjg and so on
PRINTED = ("map", "P", "Rprec_mult")  # with the cutoffs and multiples of trec_eval
JUDGES = {"mean": lambda values: in_turn(values) / len(values), "min": min, "max": max}
VIEWS = (((), None), (("-M", "3"), 3), (("-J",), None), (("-M", "10", "-J"), 10))
LEVELS = (1, 2, 3)


def first_ranks(scores, depth):
    """The documents of the first ranks as trec_eval 9 ranks: scores as f32, descending, then docno descending."""
    def key(docno):
        return as_f32(scores[docno]), docno.encode()

    return {docno: scores[docno] for docno in sorted(scores, key=key, reverse=True)[:depth]}


def values_of_judges(judged, run, arguments, name, rel, judged_only):
    """{measure: {topic: [value of each judge]}}: pytrec_eval is given each judge's grades as a topic of their own."""
    topic_of = {f"{topic} {judge}": topic for topic in judged if topic in run for judge in judged[topic]}
    qrels = {f"{topic} {judge}": grades for topic, judges in judged.items() for judge, grades in judges.items()}
    found = pytrec_values(qrels, {key: run[topic] for key, topic in topic_of.items()}, arguments, name, rel, judged_only)
    values = defaultdict(lambda: defaultdict(list))
    for measure, of_keys in found.items():
        for key, topic in topic_of.items():  # judges bytewise
            values[measure][topic].append(of_keys[key])
    return values


def judge_values(laneval, data, arguments, rel, view):
    """{laneval's name without `judges`: {topic: [value of each judge]}}."""
    flags, depth = view
    run = {topic: first_ranks(scores, depth) for topic, scores in data.read_run().items()}
    found = values_of_judges(data.read_groups(), run, arguments, laneval.names.trec_measure, rel, "-J" in flags)
    return {tidy(measure): topics for measure, topics in found.items()}


def combine(values, judges):
    return {measure: {topic: JUDGES[judges](of_judges) for topic, of_judges in topics.items()} for measure, topics in values.items()}


def compare_eval(laneval, tally, data, rel, view):
    given = ("--score-type", "f32", "--queries", "common", "--rel", str(rel), *view[0])
    values, averaged = judge_values(laneval, data, ARGUMENTS, rel, view), judge_values(laneval, data, AVERAGED, rel, view)
    cases = [(f"judges {judges}", judges, values, ARGUMENTS, ("--judges", judges)) for judges in JUDGES]
    cases += [("judges avgjg", "mean", averaged, [with_suffix(argument) for argument in AVERAGED], ())]
    for peer, judges, theirs, arguments, more in cases:
        found = laneval.evaluate(data, [f"trec:{argument}" for argument in arguments], (*given, *more), (f"rel={rel}", f"judges={judges}"))
        expected = combine(theirs, judges)
        for measure in sorted(found.keys() | expected.keys()):
            tally.add_topics(peer, measure, found.get(measure, {}), expected.get(measure, {}), same_bits, f"{data.label} {' '.join(given)}")


def with_suffix(argument):
    """The argument for the mean over judges: P.5 -> P_avgjg.5."""
    family, dot, numbers = argument.partition(".")
    return f"{family}_avgjg{dot}{numbers}"


def compare_printed(laneval, tally, data, rel, view):
    given = ("-R", "qrels_jg", "-m", "qrels_jg", "-l", str(rel), *view[0])
    printed = laneval.trec_eval(data, given)
    found = {laneval.names.trec_measure(name.replace("_avgjg", "")): texts for name, texts in printed.items() if "_avgjg" in name}
    expected = combine(judge_values(laneval, data, PRINTED, rel, view), "mean")
    for measure in sorted({tidy(measure) for measure in found} | expected.keys()):
        topics = expected.get(measure, {})
        mine = {topic: float(text) for topic, text in found.get(measure, {}).items()}
        tally.add_topics("judges printed", measure, {topic: value for topic, value in mine.items() if topic != "all"},
                         {topic: float(f"{value:.4f}") for topic, value in topics.items()}, same_bits, f"{data.label} {' '.join(given)}")
        mean = math.fsum(topics.values()) / len(topics) if topics else math.nan
        tally.add("judges printed", measure, mine.get("all", math.nan), mean, HALF_A_DIGIT(mine.get("all", math.nan), mean), f"{data.label} mean")


def check(laneval, tally, folder, options):
    seeds = [121] + ([] if options.quick else [122]) + options.seeds
    recipes = [{"seed": seed, "groups": "judges", "layout": layout, "queries": 24, "depth": depth, "hard": True}
               for seed in seeds for layout, depth in (("crlf", 10), ("interleaved", 60))]
    for data in data_sets(folder, recipes):
        for rel, view in itertools.product(LEVELS, VIEWS):
            compare_eval(laneval, tally, data, rel, view)
            compare_printed(laneval, tally, data, rel, view)
