"""Recall of nearest neighbours by other programs, on one thread: `python benches/neighbours.py`, with NumPy and numba.

Each way is called once to warm up; the best of three times counts. If laneval is installed, it is timed on the same arrays.
"""

import time

import numba
import numpy as np


def arrays(rows: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """True neighbours, and found ones, of which nine in ten are true."""
    random = np.random.default_rng(1)
    truth = random.integers(0, 1 << 20, (rows, width)).astype(np.int32) * width + np.arange(width, dtype=np.int32)
    other = truth + np.int32(1 << 29)
    found = np.where(random.random((rows, width)) < 0.1, other, truth)
    return truth, random.permuted(found, axis=1)


def sets(truth: np.ndarray, found: np.ndarray) -> float:
    return sum(len(set(one) & set(other)) for one, other in zip(truth.tolist(), found.tolist())) / truth.size


def intersect1d(truth: np.ndarray, found: np.ndarray) -> float:
    """faiss.contrib.evaluation.knn_intersection_measure."""
    return sum(len(np.intersect1d(one, other)) for one, other in zip(truth, found)) / truth.size


def numpy_sort(truth: np.ndarray, found: np.ndarray) -> float:
    both = np.concatenate([truth, found], axis=1)
    both.sort(axis=1)
    return float((both[:, 1:] == both[:, :-1]).sum()) / truth.size


@numba.njit
def pairs(truth: np.ndarray, found: np.ndarray) -> float:
    hits = 0
    for row in range(truth.shape[0]):
        for one in found[row]:
            for other in truth[row]:
                hits += one == other
    return hits / truth.size


@numba.njit
def hashed(truth: np.ndarray, found: np.ndarray) -> float:
    bits = 4
    while (1 << bits) < 4 * truth.shape[1]:
        bits += 1
    mask = (1 << bits) - 1
    ids, stamps = np.zeros(1 << bits, np.int32), np.zeros(1 << bits, np.int64)
    hits = 0
    for row in range(truth.shape[0]):
        for one in truth[row]:
            at = ((np.int64(one) * 0x9E3779B1) & 0xFFFFFFFF) >> (32 - bits)
            while stamps[at] == row + 1:
                at = (at + 1) & mask
            ids[at], stamps[at] = one, row + 1
        for one in found[row]:
            at = ((np.int64(one) * 0x9E3779B1) & 0xFFFFFFFF) >> (32 - bits)
            while stamps[at] == row + 1:
                if ids[at] == one:
                    hits += 1
                    break
                at = (at + 1) & mask
    return hits / truth.size


def main() -> None:
    for rows, width in [(10_000, 100), (1_000_000, 10), (100_000, 100)]:
        truth, found = arrays(rows, width)
        ways = [numpy_sort, pairs, hashed] + ([sets, intersect1d] if rows == 10_000 else [])
        try:
            import laneval
        except ImportError:
            pass
        else:
            near = lambda truth, found: laneval.evaluate_neighbours(truth, found, f"NNR@{width}", threads=1)[f"NNR@{width}"]  # noqa: E731
            ways.append(near)
        expected = numpy_sort(truth, found)
        for way in ways:
            assert abs(way(truth, found) - expected) < 1e-9, way
            best = float("inf")
            for _ in range(3):
                start = time.perf_counter()
                way(truth, found)
                best = min(best, time.perf_counter() - start)
            name = "laneval" if way.__name__ == "<lambda>" else way.__name__
            print(f"{rows} x {width} in {width}  {name:12} {best:.4f} s")


if __name__ == "__main__":
    main()
