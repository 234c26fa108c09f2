"""pytrec_eval: the measures of trec_eval under `--score-type f32`, equal bit for bit."""

import math
import sys
from collections import defaultdict

from inputs import data_sets
from program import tidy
from tally import same_bits

MULTIPLES = (0.05, 0.2, 0.4, 0.6, 0.8, 1.2, 1.4, 1.6, 1.8, 2, 3.7)  # of R; not 1, which is Rprec
ODD_CUTOFFS = ".1,2,3,5,7,10,17,64,100,1000"
# Arguments with parameters, and laneval's name for the same measure: beta2 is the square of beta.
PARAMETERS = ({"set_F.0.5": None, "11pt_avg.0.2,0.5,0.8": None}, {"set_F.4": "SetF(beta=2)", "11pt_avg.0,0.33,0.67,1": None})
TEXTS = {"relstring", "runid"}
# A parameter of laneval -> the gain of each grade. pytrec_eval has no such parameter: it gets other grades.
GAINS = {
    "gain={1:3,2:9}": {1: 3, 2: 9}.get,
    "gain={0:2,1:5,3:0}": {0: 2, 1: 5, 3: 0}.get,
    "gain=exp2": lambda grade, _: 2**grade - 1,
    "rel=2": lambda grade, _: grade if grade >= 2 else 0,
}
# For more distinct grades than fit into a byte, up to 3000.
MANY_GAINS = {
    "gain={1:3,2:9}": {1: 3, 2: 9}.get,
    "gain={0:2,1:5,1500:7}": {0: 2, 1: 5, 1500: 7}.get,
    "rel=1500": lambda grade, _: grade if grade >= 1500 else 0,
}
GRADED = ("ndcg", "ndcg_cut.3,10", "G", "ndcg_rel", "Rndcg")


def pytrec_values(qrels, run, arguments, name, rel=1, judged_only=False):
    """{what `name` makes of trec_eval's name: {topic: value}}; GMAP holds ln(max(AP, 1e-5)), as pytrec_eval gives it, GMBpref likewise."""
    import pytrec_eval

    judge = pytrec_eval.RelevanceEvaluator(qrels, arguments, relevance_level=rel, judged_docs_only_flag=judged_only)
    values = defaultdict(dict)
    for topic, row in judge.evaluate(run).items():
        for trec_name, value in row.items():
            values[name(trec_name)][topic] = value
    return values


def without_nan(tally, measure, ours, theirs):
    """`theirs` with 0 for its NaN where laneval says 0.

    trec_eval divides 0 by 0 in the interpolated precisions when -J leaves no result; laneval scores 0.
    """
    fixed = dict(theirs)
    for topic, value in theirs.items():
        if math.isnan(value) and ours.get(topic) == 0.0:
            fixed[topic] = 0.0
            tally.line("pytrec_eval", measure).documented += 1
    return fixed


def compare_plain_trec(laneval, tally, data, rel, judged_only, peer="pytrec_eval"):
    """Compares every measure of pytrec_eval at one level: first with odd cutoffs, then with parameters of their own."""
    qrels, run = data.read_qrels(), data.read_run()
    flags = ["--score-type", "f32", "--queries", "common", *(["--rel", str(rel)] if rel != 1 else []), *(["-J"] if judged_only else [])]
    arguments = all_arguments(laneval.names, ODD_CUTOFFS)
    passes = [(arguments, [f"trec:{argument}" for argument in arguments], laneval.names.trec_measure)]
    for given in PARAMETERS:
        mine = {argument.partition(".")[0]: name or laneval.names.meaning(f"trec:{argument}") for argument, name in given.items()}
        passes.append((list(given), list(mine.values()), mine.get))
    for arguments, mine, name in passes:
        ours = laneval.evaluate(data, mine, flags, dropped=(f"rel={rel}",))
        theirs = pytrec_values(qrels, run, arguments, name, rel, judged_only)
        for geometric in {"GMAP", "GMBpref"} & ours.keys():
            ours[geometric] = {topic: math.log(value) for topic, value in ours[geometric].items()}
        theirs = {tidy(measure): values for measure, values in theirs.items()}
        for measure in sorted(ours.keys() | theirs.keys()):
            expected = theirs.get(measure, {})
            if judged_only and measure.startswith("IPrec"):
                expected = without_nan(tally, measure, ours[measure], expected)
            tally.add_topics(peer, measure, ours[measure], expected, same_bits, f"{data.label} {' '.join(flags)}")


def compare_gains(laneval, tally, data, of=GAINS, peer="pytrec_eval gains"):
    """Compares the graded measures under other gains: pytrec_eval is given the gains as grades."""
    qrels, run = data.read_qrels(), data.read_run()
    for parameter, gain in of.items():
        gains = {topic: {docno: gain(grade, grade) if grade >= 0 else grade for docno, grade in judged.items()}
                 for topic, judged in qrels.items()}
        # RnDCG asks whether a topic has relevant documents, by their grades and not by their gains.
        kept = all((grade >= 1) == (gains[topic][docno] >= 1) for topic in qrels for docno, grade in qrels[topic].items())
        kept = kept and parameter.startswith("gain")
        graded = [argument for argument in GRADED if kept or argument != "Rndcg"]

        def name(printed):
            base, at, cutoff = laneval.names.trec_measure(printed).partition("@")
            return tidy(f"{base}({parameter}){at}{cutoff}")

        asked = [name(printed) for argument in graded for printed in as_printed(argument)]
        ours = laneval.evaluate(data, asked, ("--score-type", "f32", "--queries", "common"))
        theirs = pytrec_values(gains, run, graded, name)
        for measure in sorted(ours.keys() | theirs.keys()):
            tally.add_topics(peer, measure, ours[measure], theirs[measure], same_bits, data.label)


def as_printed(argument):
    """The names under which trec_eval prints an argument: ndcg_cut.3,10 -> ndcg_cut_3, ndcg_cut_10."""
    family, _, cutoffs = argument.partition(".")
    return [f"{family}_{cutoff}" for cutoff in cutoffs.split(",")] if cutoffs else [family]


def all_arguments(names, cutoffs=""):
    """Every measure of pytrec_eval as its argument; one that laneval has no name for must not be left out in silence."""
    import pytrec_eval

    arguments = names.trec_arguments(pytrec_eval.supported_measures, MULTIPLES, cutoffs)
    unknown = pytrec_eval.supported_measures - TEXTS - {argument.partition(".")[0] for argument in arguments}
    if unknown:
        sys.exit(f"laneval has no name for {', '.join(sorted(unknown))} of pytrec_eval")
    return arguments


def check(laneval, tally, folder, options):
    recipes = [{"seed": seed, "shape": "mixed", "layout": layout, "queries": 24, "depth": 12, "hard": hard}
               for seed, layout, hard in ((11, "shuffled", False), (12, "crlf", True), (13, "unfinished", True))]
    if not options.quick:
        recipes += [{"seed": 14, "layout": "interleaved", "queries": 40, "depth": 200},
                    {"seed": 15, "layout": "sorted", "queries": 24, "depth": 1000, "hard": True},
                    {"seed": 16, "layout": "crlf", "queries": 40, "depth": 60, "hard": True}]
        recipes += [{"seed": seed, "queries": 16, "depth": 6, "hard": seed % 2 == 0} for seed in range(20, 30)]
    recipes += [{"seed": seed, "queries": 40, "depth": 80, "layout": "interleaved", "hard": True} for seed in options.seeds]
    recipes += [{"seed": seed, "shape": "huge", "queries": 24, "depth": 30} for seed in [17, *options.seeds]]
    for data in data_sets(folder, recipes):
        for rel in (1, 2):
            for judged_only in (False, True):
                compare_plain_trec(laneval, tally, data, rel, judged_only)
    seeds = [18] + ([] if options.quick else [19]) + options.seeds
    for data in data_sets(folder, [{"seed": seed, "shape": "wide", "queries": 40, "depth": 60} for seed in seeds]):
        compare_gains(laneval, tally, data)
    check_many_grades(laneval, tally, folder, options)


def check_many_grades(laneval, tally, folder, options):
    seeds = [81] + ([] if options.quick else [82]) + options.seeds
    for data in data_sets(folder, [{"seed": seed, "shape": "many", "queries": 40, "depth": 60} for seed in seeds]):
        data.must_have_many_grades()
        for rel in (1, 2, 1500):
            for judged_only in (False, True):
                compare_plain_trec(laneval, tally, data, rel, judged_only, "pytrec_eval many grades")
        compare_gains(laneval, tally, data, MANY_GAINS, "pytrec_eval many grades")
