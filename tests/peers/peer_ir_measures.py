"""ir_measures: each provider under its own tie rule, 1e-12 (gdeval prints 5 decimals: half of 1e-5)."""

import logging
from collections import defaultdict

from inputs import by_rank, data_sets
from program import tidy
from tally import CLOSE, within

FIVE_DECIMALS = 5.0001e-6  # half a unit of the last printed digit

F32 = ("--score-type", "f32")
JUDGED_ONLY = (*F32, "-J")
ASCENDING = ("--ties", "docno-asc")
INPUT_ORDER = ("--ties", "input")
# cwl_eval's graded measures under three tops of the grading scale.
CWL_GRADED = """
INST(max_rel={top}) INST(T=2.5,max_rel={top}) INSQ(max_rel={top}) INSQ(T=0.5,max_rel={top})
BPM(max_rel={top})@10 BPM(T=2.5,max_rel={top})@100 SDCG(max_rel={top})@1 SDCG(max_rel={top})@10
NERR8(max_rel={top})@1 NERR8(max_rel={top})@10 NERR9(max_rel={top})@10 NERR9(max_rel={top})@100
NERR10(max_rel={top}) NERR10(p=0.5,max_rel={top}) NERR11(max_rel={top}) NERR11(T=2.5,max_rel={top})
"""
# (provider, flags, names of ir_measures, which laneval knows)
NAMED = (
    ("pytrec_eval", F32, """
        AP AP@7 AP(rel=2) nDCG nDCG@10 P@5 P(rel=2)@5 R@10 RR Rprec Success@5 IPrec@0.1 IPrec@0.5 SetP SetR SetF SetF(beta=0.5)
        NumRet Bpref Bpref(rel=2) infAP infAP(rel=2) SetAP SetP(relative=True) nDCG(gains={1:3,2:9})"""),
    ("msmarco", ASCENDING, "RR@3 RR@10 RR(rel=2)@10"),
    ("judged", ASCENDING, "Judged Judged@1 Judged@10 Judged@1000"),
    ("cwl_eval", INPUT_ORDER, "P(rel=2)@7 RR(rel=1)"),
    ("cwl_eval", (*INPUT_ORDER, "--rel", "1"), "RBP(rel=1,p=0.8) RBP(rel=2,p=0.999)"),
    ("compat", (), "Compat Compat(p=0.8) Compat(p=0.98,normalize=False)"),
    ("accuracy", INPUT_ORDER, "Accuracy Accuracy@5 Accuracy(rel=2)@20"),
    *(("cwl_eval", INPUT_ORDER, CWL_GRADED.replace("{top}", top)) for top in ("1", "4", "12")),
)
# With more distinct grades than fit into a byte: whole ones beyond the scale of cwl_eval, and real ones, which these providers take.
MANY = (
    ("msmarco", ASCENDING, "RR@3 RR@10 RR(rel=2)@10 RR(rel=1500)@10"),
    ("judged", ASCENDING, "Judged Judged@1 Judged@10 Judged@1000"),
    ("cwl_eval", INPUT_ORDER, "P(rel=2)@7 RR(rel=1)"),
    ("cwl_eval", (*INPUT_ORDER, "--rel", "1"), "RBP(rel=1,p=0.8) RBP(rel=2,p=0.999)"),
    ("compat", (), "Compat Compat(p=0.8) Compat(p=0.98,normalize=False)"),
    ("accuracy", INPUT_ORDER, "Accuracy Accuracy@5 Accuracy(rel=2)@20"),
    *(("cwl_eval", INPUT_ORDER, CWL_GRADED.replace("{top}", top)) for top in ("1", "4", "3000")),
)
MANY_WHOLE = (("pytrec_eval", F32, """
    AP AP@7 AP(rel=2) AP(rel=1500) nDCG nDCG@10 P@5 P(rel=1500)@5 R@10 RR Rprec Bpref Bpref(rel=1500) infAP infAP(rel=2) SetF(beta=0.5)
    SetP(relative=True) nDCG(gains={1:3,1500:9})"""),)
# (provider, flags, {name of ir_measures: what laneval calls it}), where laneval takes the name for something else, or not at all
OTHERWISE = (
    ("pytrec_eval", F32, {"NumRet(rel=2)": "NumRelRet(rel=2)"}),
    ("pytrec_eval", JUDGED_ONLY, {"AP(judged_only=True)": "AP", "nDCG(judged_only=True)@10": "nDCG@10",
                                  "SetP(relative=True,judged_only=True)": "SetP(norm=min)"}),
    # Its RBP is cut at rank 1000, which laneval has a name for, above; here it is scaled.
    ("cwl_eval", INPUT_ORDER, {"RBP(rel=1,p=0.8)": "RBP", "RBP(rel=1,p=0.95)": "RBP(p=0.95)", "RBP(rel=2,p=0.5)": "RBP(p=0.5,rel=2)"}),
)
GDEVAL = (("gdeval", (), "ERR@5 ERR@20 nDCG(dcg='exp-log2')@5 nDCG(dcg='exp-log2')@20"),)
CWL_DEPTH = 1000  # cwl_eval divides by the sum of the weights to this depth


def cwl_factor(name):
    """The factor from laneval's untruncated RBP to cwl_eval's, whose weights sum to 1."""
    import ir_measures

    return 1 / (1 - ir_measures.parse_measure(name)["p"] ** CWL_DEPTH)


def accuracy_values(names, qrels, run):
    """Topic by topic: the provider divides by zero where all of the k documents are relevant.

    It also leaves out topics without a relevant one. laneval says 1 and 0.
    """
    values = {name: dict.fromkeys(qrels, 0.0) for name in names}
    for topic in qrels.keys() & run.keys():
        for name in names:
            try:
                found = ir_measures_values("accuracy", [name], {topic: qrels[topic]}, {topic: run[topic]}, whole=True)
            except ZeroDivisionError:
                values[name][topic] = 1.0
            else:
                values[name] |= found.get(name, {})
    return values


def ir_measures_values(provider, names, qrels, run, whole=False):
    import ir_measures

    if provider == "accuracy" and not whole:
        return accuracy_values(names, qrels, run)
    if provider == "compat":
        run = by_rank(run)

    logging.getLogger("ir_measures.cwl_eval").setLevel("ERROR")  # it warns of grades above max_rel
    measures = {ir_measures.parse_measure(name): name for name in names}
    values = defaultdict(dict)
    for metric in getattr(ir_measures, provider).iter_calc(list(measures), qrels, run):
        values[measures[metric.measure]][metric.query_id] = float(metric.value)
    return values


def rows(names, named, otherwise=()):
    """(provider, flags, {name of ir_measures: laneval's name}) of such tables."""
    yield from ((provider, flags, {name: names.meaning(f"irm:{name}") for name in of.split()}) for provider, flags, of in named)
    yield from otherwise


def compare_ir_measures(laneval, tally, data, rows, tolerance, peer="ir_measures"):
    """Compare the rows of one provider and one set of flags in one command."""
    qrels, run = data.read_qrels(), data.read_run()
    for provider, flags, named in rows:
        mine = laneval.evaluate(data, list(named.values()), flags)
        other = ir_measures_values(provider, list(named), qrels, run)
        for theirs, ours in named.items():
            factor = cwl_factor(theirs) if ours.startswith("RBP") and "norm" not in ours else 1.0
            scaled = {topic: value * factor for topic, value in mine[tidy(ours)].items()}
            tally.add_topics(f"{peer} {provider}", ours, scaled, other[theirs], within(tolerance), data.label)


def check(laneval, tally, folder, options):
    recipes = [{"seed": 31, "layout": "interleaved", "queries": 30, "depth": 30}]
    numeric = [{"seed": 41, "shape": "numeric", "layout": "shuffled", "queries": 30, "depth": 40}]
    if not options.quick:
        recipes += [{"seed": 32, "layout": "shuffled", "queries": 24, "depth": 1100, "hard": True},
                    {"seed": 33, "layout": "crlf", "queries": 60, "depth": 20, "hard": True},
                    {"seed": 34, "shape": "huge", "layout": "unfinished", "queries": 24, "depth": 30}]
        numeric += [{"seed": 42, "shape": "numeric", "layout": "interleaved", "queries": 60, "depth": 200}]
    recipes += [{"seed": seed, "queries": 40, "depth": 80, "hard": True} for seed in options.seeds]
    numeric += [{"seed": seed, "shape": "numeric", "queries": 40, "depth": 80, "hard": True} for seed in options.seeds]
    for data in data_sets(folder, recipes):
        compare_ir_measures(laneval, tally, data, rows(laneval.names, NAMED, OTHERWISE), CLOSE)
    for data in data_sets(folder, numeric):
        compare_ir_measures(laneval, tally, data, rows(laneval.names, GDEVAL), FIVE_DECIMALS)
    many = [{"seed": seed, "shape": shape, "queries": 50, "depth": 40} for seed in [35, *options.seeds] for shape in ("many", "real")]
    for data in data_sets(folder, many):
        data.must_have_many_grades()
        named = MANY + (MANY_WHOLE if "shape=many" in data.label else ())
        compare_ir_measures(laneval, tally, data, rows(laneval.names, named), CLOSE, "ir_measures many grades")
