"""What other tools call laneval's measures: asked of `laneval measures --format json`, and written down nowhere here.

That a name means the right measure is what the comparison finds out: the peer is asked by its name, and laneval by what it says
that the name means.
"""

import functools
import json
import subprocess
import sys


class Names:
    """The names that a laneval program recognises."""

    def __init__(self, program):
        self.program = program
        # trec_eval's names by what may follow them: nothing, cutoffs, levels of recall, or values of a parameter.
        self.trec_plain, self.trec_cut, self.trec_level, self.trec_multiple = [], [], [], []
        for row in self._ask():
            for foreign in row["foreign"]:
                if foreign["tool"] != "trec_eval":
                    continue
                if foreign["example"] == f"trec:{foreign['name']}":
                    kind = self.trec_plain
                elif row["cutoff"] == "none":
                    kind = self.trec_multiple
                else:
                    kind = self.trec_level if row["cutoff"] == "recall" else self.trec_cut
                kind.append(foreign["name"])

    def _ask(self, *names):
        command = [self.program, "measures", *names, "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\nexit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    @functools.cache
    def meaning(self, name):
        """laneval's canonical name of the one measure that a name means: ranx:hits@5-l2 -> Hits(rel=2)@5."""
        page = self._ask(name)
        if isinstance(page, list) or len(page["measures"]) != 1:
            sys.exit(f"{name} means more than one measure")
        return page["measures"][0]

    def trec_measure(self, printed):
        """laneval's canonical name of a name that trec_eval prints, or None: map_cut_5 -> AP@5."""
        if printed in self.trec_plain:
            return self.meaning(f"trec:{printed}")
        family, _, number = printed.rpartition("_")
        if family in (*self.trec_cut, *self.trec_level, *self.trec_multiple):
            return self.meaning(f"trec:{family}.{float(number):g}")
        return None

    def trec_arguments(self, known, multiples, cutoffs=""):
        """The measures of trec_eval in `known`, as arguments of trec_eval; `cutoffs` is "" or ".1,2,3"."""
        after = dict.fromkeys([*self.trec_plain, *self.trec_level], "") | dict.fromkeys(self.trec_cut, cutoffs)
        after |= dict.fromkeys(self.trec_multiple, "." + ",".join(map(str, multiples)))
        return [name + suffix for name, suffix in after.items() if name in known]
