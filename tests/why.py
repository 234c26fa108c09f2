"""Counts the lines that say why, and lists the essays by file.

    python3 tests/why.py [--essays] [FOLDER ...]

A line of why is an ordinary comment (`//`): what a reader cannot see in the code, where it holds. An essay is what stands at the top of a file
(`//!`) behind its first paragraph, or an ordinary comment of six lines or more before an item: the idea, its source, the cost. Comments of
documentation (`///`) say what something is, and do not count; neither do tests.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["src", "crates/join/src", "crates/read/src", "crates/cli/src", "crates/formats/src", "python/src"]
ESSAY = 6
TESTS = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[[^\n]*\n)*(?:pub(?:\([^)]*\))? )?mod \w+ \{", re.MULTILINE)


class Counts:
    """Lines of one file or of several."""

    def __init__(self) -> None:
        self.code = self.why = self.essays = self.invariants = 0
        self.titles: list[str] = []

    def add(self, other: "Counts") -> None:
        """Add the lines of other files."""
        self.code += other.code
        self.why += other.why
        self.essays += other.essays
        self.invariants += other.invariants
        self.titles += other.titles

    def show(self, name: str) -> str:
        """Return one line of the table."""
        share = 100 / max(self.code, 1)
        both = self.why + self.essays
        return f"{name:<20} {self.code:>7} {self.why:>6} {self.why * share:>6.2f} {self.essays:>7} {both * share:>6.2f} {self.invariants:>6}"


def count(path: Path) -> Counts:
    """Count the lines of a file, without its tests."""
    text = path.read_text(encoding="utf-8")
    if found := TESTS.search(text):
        text = text[: found.start()]
    counts, comment, top = Counts(), 0, []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        plain = line.startswith("//") and not line.startswith(("///", "//!"))
        if line.startswith("//!"):
            top.append(line[3:].strip())
        elif plain:
            counts.why += 1
            counts.invariants += "Invariant:" in line
            comment += 1
        elif line and not line.startswith("///"):
            counts.code += 1
        if not plain:
            if comment >= ESSAY:
                counts.titles.append(f"{path.relative_to(ROOT)}:{number - comment} {comment} lines")
            comment = 0
    behind = top[top.index("") + 1 :] if "" in top else []
    counts.essays = len(behind)
    if len(behind) >= ESSAY:
        counts.titles.insert(0, f"{path.relative_to(ROOT)}:1 {len(behind)} lines")
    return counts


def main() -> None:
    """Print a table by folder, and the essays if they are asked for."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    all_of_them = Counts()
    print(f"{'folder':<20} {'code':>7} {'why':>6} {'/100':>6} {'essays':>7} {'/100':>6} {'invar.':>6}")
    for folder in words or FOLDERS:
        listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True)
        of_folder = Counts()
        for name in listed.stdout.split():
            if name.endswith(".rs") and not name.endswith("tests.rs"):
                of_folder.add(count(ROOT / name))
        print(of_folder.show(folder))
        all_of_them.add(of_folder)
    print(all_of_them.show("together"))
    if "--essays" in sys.argv:
        print(*all_of_them.titles, sep="\n")


if __name__ == "__main__":
    main()
