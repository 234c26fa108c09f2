"""The cases of the suite: ten by hand, each for one choice, and those that `search.py` found to tell definitions apart."""

from notation import read

HAND = [
    read("rich", 3, "a3 b2 c1 d0 e2 f1 g0 h1", "d9 b8 u7 c6 a5 g4 e3 v2 f1", "cut ideal unjudged", "more results than k, and more relevant documents than k"),
    read("short", 3, "a3 b1 c2 d1 e0", "b3 u2 c1", "ideal known", "no more results than k: relevant documents were not retrieved"),
    read("few", 3, "a1 b2 c0", "u8 a7 c6 v5 w4 b3 x2", "norm unjudged", "fewer relevant documents than k"),
    read("ties", 3, "a2 b0 c1 e3", "c5 b5 a3 v3 u3 e1", "ties", "equal scores at the top and across rank k"),
    read("one", 3, "a1", "u3 v2 a1", "norm", "one relevant document, at rank k"),
    read("nothing", 3, "a0 b0", "a2 b1", "nothing", "nothing is relevant"),
    read("missing", 3, "a1 b2", "", "missing", "the run has no results for the query"),
    read("negative", 3, "a2 b-1 c1 d0", "b4 a3 d2 c1", "negative", "a document with a negative grade comes first"),
    read("first", 3, "a1 b3", "a2 b1", "gain", "all is retrieved, the lower grade first"),
    read("unsorted", 3, "a3 b1 c2 d0", "b1 u5 a4 v2 d3", "order", "the rows of the run are not in the order of their scores"),
]
SMALLEST = "one of four that tell all definitions of a measure apart"
SEPARATING = ["S1", "S2", "S3", "S4"]
SMALLEST_SET = [
    read("S1", 5, "a2 b0 d1 e0 f1 g-1 h3 j3 l3 m1 n3", "e9 f8 g8 a7 j7 c7 k6 b6 i6 d5 h4 l3", "separating ties negative", SMALLEST),
    read("S2", 5, "a2 b1 c1 d3 e3 f3 g0 h2", "u3 a3 b2 c1", "separating ties known", SMALLEST),
    read("S3", 5, "a0 b-1 c1 d1 e3 f-1 g3 h0", "a3 b3 u2 c2", "separating ties negative", SMALLEST),
    read("S4", 5, "a0 b0", "a2 b1", "separating nothing", SMALLEST),
]
PLAIN = "with S4, one of four without negative grades that tell all definitions of a measure apart"
SEPARATING_PLAIN = ["N1", "N2", "N3", "S4"]
PLAIN_SET = [
    read("N1", 3, "a1 b0 c0 d1 e1 f1 g2 h0 j0 k2 l0 m1", "c4 d6 f4 a5 i6 m4 l1 k6 h6 u2 b6", "separating order ties", PLAIN),
    read("N2", 5, "a0 b1 c2 f3", "b1 u1", "separating known ties", PLAIN),
    read("N3", 5, "b1 c3 d1 e3 f1 g1 i0", "c5 e2 f6 d3 h4 b5 g1 i3 u2", "separating order ties", PLAIN),
]
ALL = "one of four that tell apart what is left of all combinations of choices"
COMBINATIONS = [
    read("G1", 3, "a3 b3 c0 d2 e1 f0 g1 h0 i0 j0 k3", "c3 u2 e5 i1 k4 g3 j6 h4 f5 b5 d5 l6 a3", "combinations", ALL),
    read("G2", 3, "a2 b2 c0 e0 f0 g2 h3 j2", "a6 d5 h5 i5 e3 g3 f3 j3 u2 c1", "combinations", ALL),
    read("G3", 5, "a0 b2 c1 d2 e3 f1", "a1 u4 b6 c2 d1 e4", "combinations", ALL),
    read("G4", 3, "a0 b1 c2 d0 e1 f1 g0 h3 j2 k0 l3 n0", "k5 e5 l3 a3 h1 f1 d4 n6 u2 m5 i6 b5 g6 j4", "combinations", ALL),
]
CASES = [*HAND, *SMALLEST_SET, *PLAIN_SET, *COMBINATIONS]
