"""The count of comparisons so far, and the tests of whether two values are the same."""

import ctypes
import math
import struct
import sys
from collections import defaultdict
from dataclasses import dataclass, field

CLOSE = 1e-12
TIED = 5e-15  # relative; scikit-learn takes differences of cumulated discounts


@dataclass
class Line:
    """The results of the comparisons of one (peer, measure)."""

    compared: int = 0
    largest: float = 0.0
    differing: int = 0
    documented: int = 0  # values where laneval departs from the peer on purpose


@dataclass
class Tally:
    """All comparisons so far, and where to look for the first differences."""

    lines: dict = field(default_factory=lambda: defaultdict(Line))
    shown: int = 0

    def line(self, peer, measure):
        """The line of a measure; its cutoffs share one."""
        return self.lines[peer, measure.partition("@")[0] + ("@k" if "@" in measure else "")]

    def add(self, peer, measure, ours, theirs, same, place):
        line = self.line(peer, measure)
        line.compared += 1
        if not math.isnan(ours) and not math.isnan(theirs):
            line.largest = max(line.largest, abs(ours - theirs))
        if same:
            return
        line.differing += 1
        if self.shown < 20:
            self.shown += 1
            print(f"differs: {peer} {measure} {place}: laneval {ours!r}, peer {theirs!r}", file=sys.stderr)

    def add_topics(self, peer, measure, ours, theirs, same, place):
        """Compare two {topic: value}; a topic on one side only is a difference."""
        for topic in sorted(ours.keys() | theirs.keys()):
            mine, other = ours.get(topic, math.nan), theirs.get(topic, math.nan)
            self.add(peer, measure, mine, other, same(mine, other), f"{place} topic {topic}")

    def with_peers(self):
        """How many values were compared with those of peers, beside the means of laneval's own."""
        return sum(line.compared for (peer, _), line in self.lines.items() if peer != "math.fsum")

    def section(self, name, check):
        """Run a section. One that compares nothing is a difference: it must not look like a pass."""
        before = self.with_peers()
        check()
        if self.with_peers() == before:
            self.add(name, "nothing", math.nan, math.nan, False, "was compared")

    def report(self):
        """Print the table; return the number of differences."""
        for (peer, measure), line in sorted(self.lines.items()):
            note = f"  ({line.documented} documented)" if line.documented else ""
            print(f"{peer:24} {measure:26} {line.compared:8} compared  largest {line.largest:.1e}"
                  f"  {line.differing} differ{note}")
        compared = sum(line.compared for line in self.lines.values())
        differing = sum(line.differing for line in self.lines.values())
        print(f"total: {compared} values compared, {differing} differ")
        return differing


def same_bits(a, b):
    return struct.pack("<d", a) == struct.pack("<d", b)


def within(tolerance):
    """A test of two values; false if one is missing (NaN)."""
    return lambda a, b: abs(a - b) <= tolerance


def relative(tolerance):
    """A test with a tolerance in units of the peer's value."""
    return lambda a, b: abs(a - b) <= tolerance * abs(b)


def few_ulps(a, b):
    """4 units of the last digit of 1, relative above 1."""
    return abs(a - b) <= 4 * math.ulp(1.0) * max(1.0, abs(b))


def within_an_ulp(a, b):
    return b in (a, math.nextafter(a, math.inf), math.nextafter(a, -math.inf))


def nearly(a, b):
    """1e-12, relative above 1: huge grades make huge sums."""
    return abs(a - b) <= CLOSE * max(1.0, abs(b))


HALF_A_DIGIT = within(0.50001e-4)  # of the 4 decimals that trec_eval prints, for means that may be added up in another order


def as_f32(number):
    """The nearest f32 value, infinite beyond the largest one."""
    return ctypes.c_float(number).value
