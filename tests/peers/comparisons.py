"""Compares `laneval compare` with scipy and statsmodels on fresh data: `python tests/peers/comparisons.py --laneval PATH [--seed N]`.

Runs are made at random; what is compared are the numbers of `laneval compare`, with those that scipy and statsmodels make of the values of
queries that it printed. Prints how many numbers were compared, and fails if one differs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pathlib
import random
import subprocess
import tempfile
from collections.abc import Callable

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

TOLERANCE = 1e-9
# Differences of means up to this are rounding.
ROUNDING = 2.0**-39
CORRECTIONS = {"bonferroni": "bonferroni", "holm": "holm", "bh": "fdr_bh", "by": "fdr_by"}
compared = 0


def same(what: str, found: float | None, expected: float, tolerance: float = TOLERANCE) -> None:
    """Compares a number, with a relative tolerance."""
    global compared
    compared += 1
    if found is None or not abs(found - expected) <= tolerance * max(abs(expected), 1e-300):
        raise SystemExit(f"{what}: laneval says {found}, and {expected} was expected")


def some(least: int, check: Callable[..., None], *given: object) -> None:
    """Runs a check, which must compare this many numbers or more."""
    before = compared
    check(*given)
    if compared - before < least:
        raise SystemExit(f"{check.__name__} compared {compared - before} numbers, and at least {least} were expected")


def made(folder: pathlib.Path, draw: random.Random, runs: int, queries: int) -> list[str]:
    """Judgments and runs, the later ones a little better."""
    judged = {f"q{q}": {f"d{d}": draw.choice([0, 0, 1, 2]) for d in range(30)} for q in range(queries)}
    text = "".join(f"{q} 0 {d} {grade}\n" for q, of in judged.items() for d, grade in of.items())
    (folder / "qrels").write_text(text)
    names = [f"r{run}" for run in range(runs)]
    for at, name in enumerate(names):
        lines = []
        for query, of in judged.items():
            scored = sorted(((draw.random() + 0.05 * at * grade, doc) for doc, grade in of.items()), reverse=True)
            lines += [f"{query} Q0 {doc} {rank} {score:.6f} {name}\n" for rank, (score, doc) in enumerate(scored[:20], 1)]
        (folder / name).write_text("".join(lines))
    return names


def compare(laneval: str, folder: pathlib.Path, names: list[str], *options: str) -> dict:
    """The document that `laneval compare` prints."""
    command = [laneval, "compare", "qrels", *names, "-m", "nDCG@10,AP,P@10", "--format", "json", "--per-query", "--quiet", *options]
    return json.loads(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)


def check_pairs(document: dict, values: dict[str, dict[str, np.ndarray]]) -> None:
    """Compares the tests of each pair."""
    for pair in document["pairs"]:
        measure, a, b = pair["measure"], pair["baseline"], pair["run"]
        x, y = values[measure][a], values[measure][b]
        what = f"{measure} of {b} against {a}"
        delta = y - x
        t = stats.ttest_rel(y, x)
        # A mean difference that is rounding is 0 in laneval, and so are t and d_z; tenths of P@10 often add up to 0.
        is_rounding = abs(float(np.mean(delta))) <= ROUNDING
        mean, statistic = (0.0, 0.0) if is_rounding else (float(np.mean(delta)), float(t.statistic))
        same(f"{what}: delta", pair["delta"], mean, 1e-9)
        same(f"{what}: t", pair["t"], statistic)
        same(f"{what}: p_t", pair["p_t"], float(t.pvalue))
        interval = t.confidence_interval(0.95)
        scale = abs(interval.high - interval.low)
        for end, expected in [("ci_low", interval.low), ("ci_high", interval.high)]:
            same(f"{what}: {end}", pair[end] + scale, float(expected) + scale)
        rounded = np.round(delta, 9)
        wins, losses = int((rounded > 0).sum()), int((rounded < 0).sum())
        same(f"{what}: p_sign", pair["p_sign"], float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0)
        same(f"{what}: d_z", pair["d_z"], mean / float(np.std(delta, ddof=1)))
        # No sum of signs is nearer to 0 than 0; scipy would compare what is rounding.
        if is_rounding:
            same(f"{what}: p_perm", pair["p_perm"], 1.0)
            continue
        # scipy draws other signs: it doubles the smaller of two one-sided shares, each with one draw more. Five standard errors of that.
        drawn = stats.permutation_test((delta,), np.mean, permutation_type="samples", n_resamples=9999, vectorized=True, rng=1)
        p = pair["p_perm"]
        if abs(float(drawn.pvalue) - p) > 5 * (2 * max(p, 1e-4) / 9999) ** 0.5 + 2 / 10_000:
            raise SystemExit(f"{what}: p_perm is {p}, and scipy draws {drawn.pvalue}")


def check_wilcoxon(document: dict, values: dict[str, dict[str, np.ndarray]]) -> None:
    """The signed-rank test by the normal approximation, which scipy has with ties too."""
    for pair in document["pairs"]:
        x, y = values[pair["measure"]][pair["baseline"]], values[pair["measure"]][pair["run"]]
        delta = np.round(y - x, 9)
        expected = stats.wilcoxon(delta[delta != 0], correction=False, method="asymptotic").pvalue
        same(f"{pair['measure']} of {pair['run']} against {pair['baseline']}: p_wilcoxon", pair["p_wilcoxon"], float(expected))


def check_corrections(laneval: str, folder: pathlib.Path, names: list[str]) -> None:
    """Compares the corrections of a family for each measure, and of one family for all."""
    for (ours, theirs), family in itertools.product(CORRECTIONS.items(), ["measure", "all"]):
        document = compare(laneval, folder, names, "--correction", ours, "--family", family)
        pairs = document["pairs"]
        families = [pairs] if family == "all" else [[of for of in pairs if of["measure"] == m] for m in document["measures"]]
        for of in families:
            expected = multipletests([pair["p"] for pair in of], method=theirs)[1]
            for pair, p in zip(of, expected, strict=True):
                same(f"{ours} of {pair['measure']}", pair["p_adj"], float(p), 1e-12)


def check_anova(document: dict, values: dict[str, dict[str, np.ndarray]]) -> None:
    """The two-way analysis of variance, and Tukey's test on it."""
    for of in document["anova"]:
        table = np.array(list(values[of["measure"]].values()))
        m, n = table.shape
        means, queries, whole = table.mean(1), table.mean(0), table.mean()
        error = ((table - means[:, None] - queries[None, :] + whole) ** 2).sum()
        df = (m - 1) * (n - 1)
        f = n * ((means - whole) ** 2).sum() / (m - 1) / (error / df)
        # Means that are equal but for rounding have an F of no more than this, and which one is chance.
        least = n * m * ROUNDING**2 / (m - 1) / (error / df)
        same(f"F of {of['measure']}", max(of["f_runs"], least), max(float(f), least))
        same(f"p of F of {of['measure']}", of["p_runs"], float(stats.f.sf(f, m - 1, df)))
        by_name = dict(zip(values[of["measure"]], means, strict=True))
        for pair in document["pairs"]:
            if pair["measure"] == of["measure"]:
                q = abs(by_name[pair["run"]] - by_name[pair["baseline"]]) / (error / df / n) ** 0.5
                expected = float(stats.studentized_range.sf(q, m, df))
                # scipy's own value is good to 1e-11 only.
                same(f"HSD of {of['measure']}", pair["p_adj"] + 0.01, expected + 0.01, 1e-8)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--laneval", required=True)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    options = parser.parse_args()
    laneval = str(pathlib.Path(options.laneval).resolve())
    print(f"seed {options.seed}")
    draw = random.Random(options.seed)
    for runs, queries in [(2, 12), (3, 60), (6, 200)]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            names = made(folder, draw, runs, queries)
            document = compare(laneval, folder, names)
            values: dict[str, dict[str, np.ndarray]] = {}
            for query in document["per_query"]:
                for run, value in query["values"]:
                    values.setdefault(query["measure"], {}).setdefault(run, []).append(value)
            values = {m: {run: np.array(of) for run, of in runs_.items()} for m, runs_ in values.items()}
            if len(values) != 3 or any(len(of) != runs for of in values.values()):
                raise SystemExit(f"there are values of {[(m, len(of)) for m, of in values.items()]}")
            pairs = runs * (runs - 1) // 2 * len(values)
            some(7 * pairs, check_pairs, document, values)
            some(pairs, check_wilcoxon, compare(laneval, folder, names, "--test", "wilcoxon", "--wilcoxon-method", "normal"), values)
            some(2 * len(CORRECTIONS) * pairs, check_corrections, laneval, folder, names)
            some(2 * len(values) + pairs, check_anova, compare(laneval, folder, names, "--correction", "hsd", "--anova"), values)
    print(f"{compared} numbers of comparisons equal those of scipy and statsmodels")


if __name__ == "__main__":
    main()
