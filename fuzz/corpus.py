#!/usr/bin/env python3
"""Keeps the inputs of each fuzz target in one file, which libFuzzer has as a folder with a file for each.

    fuzz/corpus.py unpack TARGET...    corpus/TARGET.inputs is added to the folder corpus/TARGET
    fuzz/corpus.py pack TARGET...      corpus/TARGET.inputs is written again, from the folder

An input is a line with its length in bytes and, of one that failed once, behind a blank its name; then its bytes and a line break.
"""

import hashlib
import re
import sys
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"


def unpack(target: str) -> None:
    packed = (CORPUS / f"{target}.inputs").read_bytes()
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    at = count = 0
    while at < len(packed):
        end = packed.index(b"\n", at)
        length, _, name = packed[at:end].decode().partition(" ")
        data = packed[end + 1 : end + 1 + int(length)]
        at = end + 1 + int(length) + 1
        assert packed[at - 1 : at] == b"\n", f"{target}.inputs ends amid an input"
        (folder / (name or hashlib.sha1(data).hexdigest())).write_bytes(data)
        count += 1
    print(f"{target}: {count} inputs")


def pack(target: str) -> None:
    inputs = []
    for file in (CORPUS / target).iterdir():
        # libFuzzer names an input by the hash of its bytes.
        name = "" if re.fullmatch("[0-9a-f]{40}", file.name) else f" {file.name}"
        data = file.read_bytes()
        inputs.append((name, len(data), data))
    assert inputs, f"{target} has no inputs"
    packed = b"".join(b"%d%s\n%s\n" % (length, name.encode(), data) for name, length, data in sorted(inputs))
    (CORPUS / f"{target}.inputs").write_bytes(packed)
    print(f"{target}: {len(inputs)} inputs, {len(packed)} bytes")


def main() -> None:
    ways = {"pack": pack, "unpack": unpack}
    if len(sys.argv) < 3 or sys.argv[1] not in ways:
        sys.exit(__doc__)
    for target in sys.argv[2:]:
        ways[sys.argv[1]](target)


main()
