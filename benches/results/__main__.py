"""Writes the tables of benches/RESULTS.md: `just results`, or `python benches/results --laneval FILE [--list] [NAME ...]`.

Each table stands between two marks in that file, and a function of `tables` writes it; what is not named keeps what it has, and its mark the
commit. Of programs that are compared the runs alternate, and the least time counts, or the median where a bench of its own says so. What another
bench or script prints is shown as it is, with its command. Data are made once, in target/results. Nothing else should run meanwhile: the load is
written at the top.

Needs what `just results` installs: the programs that laneval is compared with, and laneval's own package.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import time

import data
from tables import TABLES
from timing import BENCHES, commit

RESULTS = BENCHES / "RESULTS.md"


def replaced(whole: str, name: str, made: str) -> str:
    """The file with another table of a name."""
    mark = re.compile(rf"<!-- table {name}[^>]* -->\n.*?<!-- end -->", re.DOTALL)
    assert len(mark.findall(whole)) == 1, f"benches/RESULTS.md has no place for the table {name}"
    return mark.sub(lambda _: f"<!-- table {name}, commit {commit()} -->\n{made}\n<!-- end -->", whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--laneval", default="target/release/laneval", help="the command that is measured")
    parser.add_argument("--list", action="store_true", help="print the names of the tables")
    parser.add_argument("names", nargs="*", metavar="NAME", help="the tables to write [default: all]")
    chosen = parser.parse_args()
    if chosen.list:
        print(*TABLES, sep="\n")
        return
    data.laneval = str(pathlib.Path(chosen.laneval).resolve())
    if unknown := set(chosen.names) - set(TABLES):
        parser.error(f"no table is named {', '.join(sorted(unknown))}; --list has their names")
    for name, write in TABLES.items():
        if not chosen.names or name in chosen.names:
            start = time.perf_counter()
            made = write()
            RESULTS.write_text(replaced(RESULTS.read_text(), name, made))
            print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
