"""Counts what small commands execute of laneval's own source, files and functions: `just trips [REV] [--list]`.

The path of a plain evaluation should not lead through what nobody asked for. The command is built without optimisation and with the numbers of
lines, in target/trips, and runs under valgrind's callgrind, which names every function that was executed and its file. With REV, any revision of
git, both are counted; --list prints the names, and with REV those that only one of both has.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import shutil
import sys
import tempfile

import builds

COMMANDS = {
    "eval q r -m nDCG@10": ("eval", "q", "r", "-m", "nDCG@10", "--threads", "1"),
    "eval m.lmx -m AP": ("eval", "m.lmx", "-m", "AP", "--threads", "1"),
    "measures --names": ("measures", "--names"),
}
# A position in callgrind's output: which of file or function, its number, and its name where it is first named.
NAMED = re.compile(r"^(c?f[lien]|cfn|ob|cob)=\((\d+)\)(?: (.+))?$")


def executed(output: pathlib.Path, root: str) -> tuple[set[str], set[str]]:
    """Our files, and our functions with their files, of callgrind's output."""
    names: dict[tuple[str, str], str] = {}
    files, functions = set(), set()
    file = ""
    for line in output.read_text().splitlines():
        found = NAMED.match(line)
        if not found or found[1].endswith("ob"):
            continue
        kind = "function" if found[1].endswith("n") else "file"
        name = names.setdefault((kind, found[2]), found[3]) if found[3] else names[kind, found[2]]
        if kind == "file":
            name = name.removeprefix(f"{root}/")
            file = name if found[1] == "fl" else file
            files.add(name)
        elif found[1] == "fn":
            functions.add(f"{file}  {name}")
    ours = ("src/", "crates/")
    return {file for file in files if file.startswith(ours)}, {function for function in functions if function.startswith(ours)}


def counted(source: builds.Source) -> dict[str, tuple[set[str], set[str]]]:
    """What each command executes."""
    command = builds.plain_command(source)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "q").write_text("q1 0 d1 1\nq1 0 d2 0\n")
        (folder / "r").write_text("q1 Q0 d1 1 2 r\nq1 Q0 d2 2 1 r\n")
        builds.printed(command, "build", "q", "r", "-o", "m.lmx", "--quiet", cwd=folder)
        found = {}
        for what, words in COMMANDS.items():
            builds.printed("valgrind", "--tool=callgrind", "--callgrind-out-file=out", command, *words, cwd=folder)
            found[what] = executed(folder / "out", command.with_name("root").read_text())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", metavar="REV", nargs="?", help="a revision to count beside the working tree")
    parser.add_argument("--list", action="store_true", help="print the names of files and functions")
    chosen = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("error: what is executed is seen by valgrind, which is not installed")
    sources = [*([builds.revision(chosen.revision)] if chosen.revision else []), builds.tree()]
    all_of = [counted(source) for source in sources]
    for what in COMMANDS:
        print(
            f"{what}: "
            + ", ".join(f"{len(of[what][0])} files and {len(of[what][1])} functions in {source.name}" for of, source in zip(all_of, sources))
        )
        for kind in (0, 1) if chosen.list else ():
            sets = [of[what][kind] for of in all_of]
            for name in sorted(set.union(*sets)):
                marks = "".join("*" if name in of else "-" for of in sets)
                if len(sets) == 1 or "-" in marks:
                    print(f"  {marks + '  ' if len(sets) > 1 else ''}{name}")


if __name__ == "__main__":
    main()
