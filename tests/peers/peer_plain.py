"""Plain Python: every measure in `plain.py`, for what no peer computes, and in `plain_subtopics.py`, for what pyndeval does not, 1e-12."""

import itertools

import plain
import plain_subtopics
from inputs import data_sets
from program import tidy
from tally import nearly

# Every measure with a value of its own, where `plain.py` is the peer; each also at level 2 if it has a level.
PLAIN = """
P@5 P(norm=min)@1 P(norm=min)@5 P(norm=min)@100 R@5 R(norm=min)@1 R(norm=min)@5 R(norm=min)@50 R(norm=retrieved)@5 R(norm=retrieved)@50 F@5 F(beta=2)@10 F(beta=0.5)@3
Success Success@3 Hits Hits@7 AP AP@5 AP(norm=hits) AP(norm=hits)@5 AP(norm=min) AP(norm=min)@5 AP(norm=min)@40 AP(norm=k)@1 AP(norm=k)@20 AP(norm=retrieved) AP(norm=retrieved)@5 AP(norm=retrieved)@50 RR RR@2 RR(over=hits) RR(over=hits)@5 RR(over=relevant) RR(over=relevant)@5
Rprec Rprec(mult=0.3) Rprec(mult=2.5) SetF(beta=2) Judged Judged@4 Unjudged@1 Unjudged@5 Unjudged@20 Accuracy Accuracy@6
FallOut FallOut@1 FallOut@5 FallOut@30 FallOut(norm=judged) FallOut(norm=judged)@5 FallOut(norm=judged)@30
Utility Utility(a=2.5,c=-0.5,d=0.25) Utility(b=-2,c=3,d=4,docs=1000) Utility(a=0,b=0,d=1)
NNR Bpref Bpref(negatives=nonrelevant) InfAP YAAP BinG IPrec@0 IPrec@0.3 IPrec@1 IPrec(cut=v10)@0.1 IPrec(cut=v10)@0.5
IPrec(cut=v10)@0.7 IPrec11 IPrec11(cut=v10) IPrec11(points=[0.2,0.5,0.8]) IPrec11(cut=v10,points=[0.25,0.75])
IPrec(cut=exact)@0.05 IPrec(cut=exact)@0.7 IPrec11(cut=exact) IPrec11(cut=exact,points=[0.05,0.7])
Compat Compat(p=0.5) Compat(p=0.9,normalize=false)
RBP RBP@3 RBP(p=0.5)@10 RBP(gain=grade) RBP(gain=raw) RBP(p=0.9,scale=topic) RBP(p=0.5,scale=topic) RBP(p=0.95,scale=topic)@10
RBP(norm=1000) RBP(p=0.95,norm=20) RBP(p=0.3,gain=grade,norm=5) RBPresid RBPresid(p=0.5) RBPresid(p=0.99)
"""
PLAIN_GAINS = ("", "rel=2", "gain={1:3,2:9}", "gain={-2:0.25,-1:0.5,0:0.125,1:3,2:0}", "gain={1:-2,2:0.75}")
PLAIN_NARROW = ("gain=exp2", "gain=exp2,rel=3")  # where no grade is above 12
PLAIN_GRADED = ("CG{}", "CG{}@5", "DCG{}", "DCG{}@5", "IDCG{}", "IDCG{}@5", "nDCG{}", "nDCG{}@5", "G{}", "nDCGrel{}", "RnDCG{}")
PLAIN_IDEAL = ("nDCG(ideal=retrieved)", "DCG(discount=jk)", "nDCG(discount=jk)@5", "IDCG(discount=jk,base=10)", "nDCG(discount=jk,base=3.5)", "nDCG(ideal=retrieved)@5", "nDCG(gain={1:3,2:9},ideal=retrieved)@5",
    "nDCG(gain=binary)@10", "nDCG(gain=binary,rel=2)@10", "nDCG(ideal=uncut)@5", "nDCG(ideal=uncut,gain=binary)", "nDCG(ideal=returned)@100", "nDCG(ideal=returned)",
    "nDCG(ideal=returned,gain=binary,discount=rank)@30", "DCG(discount=rank)@7", "IDCG(discount=rank)@7", "CG(gain=binary)")
PLAIN_CWL = """
INST INST(T=2.5) INST(depth=5) INSQ INSQ(T=0.5) INSQ(depth=7) BPM BPM@10 BPM(T=2)@10 BPM(T=3,depth=8) SDCG@5 SDCG@100 SDCG(norm=min)@5 SDCG(norm=min)@100 SDCG(norm=min,gain=grade)@20
NERR8 NERR8@10 NERR9 NERR9@10 NERR9(depth=5)@10 NERR10 NERR10(p=0.5) NERR10(p=0.5,depth=5) NERR11 NERR11(T=3)
INST(gain=grade) INSQ(gain=grade) SDCG(gain=grade)@5 NERR8(gain=grade)@10 NERR9(gain=grade,gmax=3)@10 NERR11(gain=grade,gmax=20)
BPM(T=1.5,gain=grade)@20 NERR10(gain=grade)
"""


# More distinct grades than fit into a byte: the levels to ask for, whether grades go beyond 12, and more gains.
MANY = {
    "many": ((2, 1500), True, ("gain={-1:-2,1:3,1500:0.5}", "rel=1500")),
    "real": ((0.7, 2.5), False, ("gain={-2:1,0.7:5.5,2:0.25}", "rel=0.7")),
    "tiny": ((0, 0.0005, 0.005), False, ("gain={-1:0.125,0.0005:3}", "rel=0.005")),
}

# Over subtopics: at ranks beyond pyndeval's 20, with the first rank divided and not, and with parameters that it takes for no single measure.
SUBTOPICS_CUT = (1, 2, 20, 21, 35, 50, 100, 1000)
SUBTOPICS = (
    "alpha_DCG", "alpha_DCG(first=raw)", "alpha_nDCG", "ERR_IA", "ERR_IA(first=raw)", "nERR_IA",
    "alpha_DCG(alpha=0.8)", "alpha_nDCG(alpha=0.15)", "alpha_nDCG(alpha=1)", "ERR_IA(alpha=0)", "ERR_IA(alpha=0.6)", "nERR_IA(alpha=0.35)", "P_IA", "StRecall",
)
SUBTOPICS_WHOLE = ("NRBP", "NRBP(alpha=0.2,beta=0.9)", "NRBP(beta=0)", "nNRBP", "nNRBP(alpha=0.65)", "nNRBP(alpha=0.05,beta=0.95)", "AP_IA")
SUBTOPICS_VIEWS = (((), {}), (("-M", "30"), {"depth": 30}), (("-J",), {"judged_only": True}), (("-M", "30", "-J"), {"depth": 30, "judged_only": True}))


def plain_names(wide, levels=(2,), gains=()):
    """laneval's names of everything in `plain.py`; `wide` where grades go beyond 12."""
    names = [*PLAIN.split(), *PLAIN_IDEAL, *PLAIN_CWL.split()]
    for parameters in PLAIN_GAINS + gains + (() if wide else PLAIN_NARROW):
        names += [name.format(f"({parameters})" if parameters else "") for name in PLAIN_GRADED
                  if not (name.startswith("RnDCG") and "rel" in parameters)]
    names += [name for level in levels for name in [plain.at_level(name, level) for name in names] if name]
    return names + ([] if wide else ["ERR(gmax=12)", "ERR(gmax=auto)@5"])


def compare_plain(laneval, tally, peer, data, names):
    qrels, run = data.read_qrels(), data.read_run()
    for judged_only in (False, True):
        topics = plain.topics_of(qrels, run, judged_only)
        ours = laneval.evaluate(data, names, ["-J"] if judged_only else [])
        for name in names:
            tally.add_topics(peer, name, ours[tidy(name)], plain.values(name, topics), nearly,
                             f"{data.label}{' -J' if judged_only else ''}")


def compare_subtopics(laneval, tally, data):
    """Compares a topic that the run lacks, too: it is an empty ranking."""
    lines, run = data.read_lines(), data.read_run()
    names = [f"{name}@{k}" for name in SUBTOPICS for k in SUBTOPICS_CUT] + list(SUBTOPICS_WHOLE)
    for rel, (flags, view) in itertools.product((1, 2), SUBTOPICS_VIEWS):
        topics = plain_subtopics.topics_of(lines, run, rel, **view)
        given = ("--ties", "docno-asc", "--rel", str(rel), *flags)
        ours = laneval.evaluate(data, names, given, (f"rel={rel}",))
        for name in names:
            base, params, cutoff = plain.split(name)
            how, k = {key: plain.value_of(value) for key, value in params.items()}, int(cutoff) if cutoff else None
            theirs = {topic: plain_subtopics.FUNCTIONS[base](t, k, **how) for topic, t in topics.items()}
            tally.add_topics("plain subtopics", name, ours[tidy(name)], theirs, nearly, f"{data.label} {' '.join(given)}")


def check_many_grades(laneval, tally, folder, seeds):
    for shape, (levels, wide, gains) in MANY.items():
        for data in data_sets(folder, [{"seed": seed, "shape": shape, "queries": 60, "depth": 40} for seed in seeds]):
            data.must_have_many_grades()
            compare_plain(laneval, tally, "plain many grades", data, plain_names(wide, levels, gains))


def check(laneval, tally, folder, options):
    seeds = [71] + ([] if options.quick else [72]) + options.seeds
    recipes = [{"seed": seed, "shape": shape, "layout": layout, "queries": 30, "depth": depth}
               for seed in seeds for shape, layout, depth in
               (("free", "crlf", 12), ("wide", "interleaved", 40), ("vast", "unfinished", 20))]
    for data in data_sets(folder, recipes):
        compare_plain(laneval, tally, "plain", data, plain_names(wide="vast" in data.label))
    check_many_grades(laneval, tally, folder, seeds)
    for data in data_sets(folder, [{"seed": seed, "groups": "subtopics", "queries": 16, "depth": 60, "hard": True} for seed in seeds], ("run",)):
        compare_subtopics(laneval, tally, data)
