#!/usr/bin/env python3
"""Compare every per-query value of `laneval` with the programs people use today.

Each section (`peer_*.py`) generates data (`generate.py`, fixed seeds), runs `laneval eval`, asks one peer
for the same values, and compares topic by topic (`tally.py`). What peers call laneval's measures is asked
of laneval (`names.py`). The sections:

    pytrec_eval   the trec_eval measures under `--score-type f32`: equal bit for bit
    ir_measures   each provider under its own tie rule: 1e-12 (gdeval prints 5 decimals: half of 1e-5)
    ranx          tie-free data with the same topics in both files: 1e-12
    scikit-learn  tie-free data without unjudged documents: 1e-12; tied data under `--ties average`: 5e-15, relative
    trm           (tie-aware-retrieval-metrics) binary tied data under `--ties average`, `best`, `worst`: 5e-15, relative
    orders        small tied rankings: the mean, largest and smallest of pytrec_eval's values of all orders of equal scores;
                  the extremes bit for bit, the mean to 4 ulps of 1 (relative above 1)
    pyndeval      the measures over subtopics, judgments given in the bytewise order of subtopics: equal bit for bit
    judges        `--judges mean`, `min`, `max` and *_avgjg, from pytrec_eval's values of each judge: equal bit for bit
    preferences   the prefs_* in plain Python (`plain_preferences.py`): equal bit for bit, and the 4 decimals of `laneval trec-eval`
    torchmetrics  tie-free data, its own f32: 1e-6; only with --only torchmetrics, as it is not in requirements.txt
    plain         every measure in plain Python (`plain.py`, `plain_subtopics.py`), for what no peer computes: 1e-12

The sections pytrec_eval, ir_measures, ranx, scikit-learn and plain also have data with more distinct grades than fit into a byte: whole grades
from -3 to 3000, and real ones for the peers that take them. Their lines say "many grades".

Every mean that laneval prints is compared with math.fsum(values) / n, one ulp allowed. One line per
(peer, measure) says how many values were compared, the largest difference and how many differ; the
last line is the total. Exit status 1 on any difference, 2 when a peer is not installed.

    compare.py --laneval target/release/laneval [--quick] [--seed S] [--fresh] [--only pytrec_eval,ranx]
"""

import argparse
import importlib
import os
import random
import sys
import tempfile
from pathlib import Path

import peer_ir_measures
import peer_judges
import peer_orders
import peer_plain
import peer_preferences
import peer_pyndeval
import peer_pytrec_eval
import peer_ranx
import peer_scikit_learn
import peer_torchmetrics
import peer_trm
from program import Laneval
from tally import Tally

# section: (modules that must be there, the check)
SECTIONS = {
    "pytrec_eval": (("pytrec_eval",), peer_pytrec_eval.check),
    "ir_measures": (("ir_measures", "pytrec_eval", "cwl"), peer_ir_measures.check),
    "ranx": (("ranx",), peer_ranx.check),
    "scikit-learn": (("sklearn",), peer_scikit_learn.check),
    "trm": (("trm",), peer_trm.check),
    "orders": (("pytrec_eval",), peer_orders.check),
    "pyndeval": (("pyndeval",), peer_pyndeval.check),
    "judges": (("pytrec_eval",), peer_judges.check),
    "preferences": ((), peer_preferences.check),
    "plain": ((), peer_plain.check),
    "torchmetrics": (("torch", "torchmetrics"), peer_torchmetrics.check),
}
USUAL = [section for section in SECTIONS if section != "torchmetrics"]  # 5 GB to install


def require(modules):
    """A missing peer is an error: a comparison that did not happen must not look like a pass."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            print(f"compare.py: {error}; install requirements.txt, or leave the section out with --only", file=sys.stderr)
            sys.exit(2)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--laneval", required=True, metavar="PATH", help="the laneval program")
    parser.add_argument("--seed", type=int, action="append", dest="seeds", default=[], metavar="S",
                        help="also compare on fresh data of this seed (may be repeated)")
    parser.add_argument("--fresh", action="store_true", help="also compare on fresh data of a random seed, which is printed")
    parser.add_argument("--quick", action="store_true", help="the first, small data sets only")
    parser.add_argument("--only", default=",".join(USUAL), metavar="PEER,...", help="default: %(default)s")
    options = parser.parse_args()
    if options.fresh:
        options.seeds.append(random.SystemRandom().randrange(10**9))
        print(f"seed {options.seeds[-1]}", flush=True)
    options.only = options.only.split(",")
    unknown = set(options.only) - SECTIONS.keys()
    if unknown:
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse_arguments()
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # the data is small: threads only add start-up time
    for section in options.only:
        require(SECTIONS[section][0])
    tally = Tally()
    laneval = Laneval(options.laneval, tally)
    with tempfile.TemporaryDirectory() as folder:
        for section in options.only:
            tally.section(section, lambda: SECTIONS[section][1](laneval, tally, Path(folder) / section, options))
    sys.exit(1 if tally.report() else 0)


if __name__ == "__main__":
    main()
