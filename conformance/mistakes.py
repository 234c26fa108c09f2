"""What one other choice, or a usual mistake, makes of each definition: by these `laneval check` says what is wrong with a value."""

from copy import copy

from definitions import DEFINITIONS
from formulas import Query, value

# The values of a choice, in words for what a program does that has made it.
ORDER = [
    ("order", "docno-desc", "equal scores by document id, descending"),
    ("order", "docno-asc", "equal scores by document id, ascending"),
    ("order", "input", "equal scores in the order of the file"),
    ("order", "reversed", "equal scores in the reverse order of the file"),
    ("order", "worst", "the worst first among equal scores"),
]
AVERAGED = [("order", "average", "the mean over the orders of equal scores")]
# The value where nothing is relevant is none of these: that it is 1 for 0 says all.
ANY = [
    *ORDER,
    ("relevant_from", "judged", "relevant documents count that were not retrieved"),
    ("relevant_from", "retrieved", "relevant documents count only if they were retrieved"),
    ("rel", 1, "relevant from grade 1"),
    ("rel", 2, "relevant from grade 2"),
    ("judged_only", True, "unjudged documents are dropped"),
    ("sorting", "rising", "the lowest score first"),
    ("sorting", "none", "results as they come, whatever their scores"),
]
CUT = [("further", 1, "cut at k + 1"), ("further", -1, "cut at k − 1"), ("k", False, "not cut at k")]
LATE = [("late", 1, "i + 1 for the rank i")]
CHANGES = {
    "nDCG": [
        ("ideal", "judged", "ideal of all judged documents, cut at k"),
        ("ideal", "uncut", "ideal not cut at k"),
        ("ideal", "returned", "ideal cut at the number of results"),
        ("ideal", "top", "ideal of the first k results"),
        ("ideal", "full", "ideal of k ones"),
        ("ideal", "filled", "ideal of as many ones as there are results, at most k"),
        ("relevant_from", "judged", "ideal of all judged documents"),
        ("relevant_from", "retrieved", "ideal of retrieved documents"),
        *[change for change in ANY if change[0] != "relevant_from"],
        *AVERAGED,
        ("gain", "linear", "gain g"),
        ("gain", "exp2", "gain 2^g − 1"),
        ("gain", "binary", "gain 1"),
        ("discount", "lg", "discount lg(i + 1)"),
        ("discount", "jk", "discount lg i for lg(i + 1)"),
        ("discount", "rank", "discount i"),
        ("discount", "late", "discount lg(i + 2) for lg(i + 1)"),
        ("raw", True, "negative grades count as they are"),
        ("raw", False, "negative grades count as 0"),
        *CUT[:2],
    ],
    "AP": [
        ("norm", "judged", "divided by R"),
        ("norm", "min", "divided by min(k, R)"),
        ("norm", "hits", "divided by the relevant documents found"),
        ("norm", "k", "divided by k"),
        ("norm", "retrieved", "divided by min(k, n, R)"),
        ("norm", "plus", "divided by R + 1"),
        *ANY,
        *LATE,
        *CUT,
    ],
    "AP(ties=together)": ANY,
    "RR": [
        ("over", "first", "of the first relevant document"),
        ("over", "hits", "the mean over the relevant documents found"),
        ("over", "relevant", "the sum over relevant documents, divided by R"),
        *ANY,
        *LATE,
        *CUT,
    ],
    "P": [
        ("norm", "judged", "divided by k"),
        ("norm", "min", "divided by min(k, n)"),
        ("norm", "shown", "divided by the judged documents in the first k ranks"),
        *ANY,
        *CUT[:2],
    ],
    "R": [
        ("norm", "judged", "divided by R"),
        ("norm", "min", "divided by min(k, R)"),
        ("norm", "retrieved", "divided by min(k, n, R)"),
        ("norm", "plus", "divided by R + 1"),
        *ANY,
        *CUT,
    ],
    "ERR": [
        ("gmax", 3, "a largest grade of 3"),
        ("gmax", 4, "a largest grade of 4"),
        *ANY,
        *LATE,
        *CUT,
    ],
    "Bpref": [("raw", True, "negative grades are judgments"), ("raw", False, "negative grades are no judgments"), *ANY],
    "AUC": [("order", "worst", "0 for equal scores"), ("order", "docno-desc", "½ for equal scores"), ("sorting", "rising", "the lowest score first")],
}
# A definition that does not cut has no k to move.
WITHOUT_K = {"further", "k"}


def rows(cases, values):
    """The rows of mistakes.json: a definition, the number of a change, and the values of the cases in which it makes another one."""
    found = []
    for name, definition in DEFINITIONS.items():
        choices = definition.choices
        for field, other, says in CHANGES[choices.measure]:
            if getattr(choices, field) == other or (field in WITHOUT_K and not choices.k):
                continue
            changed = copy(choices)
            setattr(changed, field, other)
            pairs = [(case["id"], value(Query(case), changed), values[name][case["id"]]) for case in cases]
            differing = {case: rounded(new) for case, new, old in pairs if rounded(new) != rounded(old)}
            if differing:
                found.append([name, SAYS.index(says), differing])
    return found


# The words of all changes, each once.
SAYS = list(dict.fromkeys(says for changes in CHANGES.values() for _, _, says in changes))


def rounded(found):
    """A value to seven digits, which is what a program that computes in f32 gives."""
    return None if found is None else float(f"{float(found):.7g}")
