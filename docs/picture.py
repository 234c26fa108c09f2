#!/usr/bin/env python3
"""Draw what a terminal shows of `laneval compare` on the sample data, down to the sentences: docs/compare.svg.

    docs/picture.py --laneval target/release/laneval           writes the picture
    docs/picture.py --laneval target/release/laneval --check   exit status 1 if the picture is out of date

Only the standard library is needed; the command runs in a pseudo-terminal (Linux, macOS). What the
command prints is the same on every machine, and so is the picture.
"""

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "compare.svg"
SAMPLE = "examples/data/demo"
ARGUMENTS = ["compare", f"{SAMPLE}.qrels"]
ARGUMENTS += [f"{name}={SAMPLE}-{name}.run" for name in ("bm25", "dense", "hybrid")]
ARGUMENTS += ["-m", "nDCG@10,AP,P@10"]
# The command as the picture shows it, without the folder.
SHOWN = "laneval compare demo.qrels bm25=demo-bm25.run dense=demo-dense.run hybrid=demo-hybrid.run -m nDCG@10,AP,P@10"

COLUMNS = 110
SIZE, ADVANCE, LEADING = 14, 8.43, 20  # pixels: the font, the width of a character, the height of a line
MARGIN, BAR = 22, 34  # pixels: around the text, and the height of the bar above it
CUT = "\nagreement with "  # how much the measures agree, which is left out
BOLD = re.compile(r"\x1b\[(\d*)m")

STYLE = """\
    .page { fill: #ffffff; stroke: #d0d7de }
    .bar { fill: #f6f8fa }
    .edge { stroke: #d0d7de }
    .dot { fill: #d0d7de }
    text { font: 14px ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: #1f2328; white-space: pre }
    .rule { stroke: #8c959f }
    .prompt, .title, .quiet { fill: #59636e }
    .bold { font-weight: 700; fill: #0550ae }
    .typed { font-weight: 700 }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; stroke: #30363d }
      .bar { fill: #161b22 }
      .edge { stroke: #30363d }
      .dot { fill: #30363d }
      text { fill: #e6edf3 }
      .rule { stroke: #6e7681 }
      .prompt, .title, .quiet { fill: #9198a1 }
      .bold { fill: #79c0ff }
    }
"""


def printed(laneval):
    """Return what the command prints on a terminal of COLUMNS columns."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    command = subprocess.Popen(
        [laneval, *ARGUMENTS], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=end,
        stderr=subprocess.DEVNULL,
    )
    os.close(end)
    pieces = []
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(terminal)
    if command.wait() != 0:
        sys.exit(f"{laneval} {' '.join(ARGUMENTS)}: exit status {command.returncode}")
    return b"".join(pieces).decode().replace("\r\n", "\n")


def wrapped(line):
    """Break a line of words that is longer than the terminal; tables are narrower."""
    lines = [""]
    for word in line.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > COLUMNS:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def pieces(line):
    """Yield (column, text, is it bold) for each piece of a line between two blanks or more, and between two styles."""
    column, bold = 0, False
    for at, part in enumerate(BOLD.split(line)):
        if at % 2:
            bold = part == "1"
            continue
        for word in re.finditer(r"\S+( \S+)*", part):
            yield column + word.start(), word.group(), bold
        column += len(part)


def text(column, row, content, style=""):
    """Return one piece of text as an element."""
    style = f' class="{style}"' if style else ""
    x, y = MARGIN + column * ADVANCE, BAR + MARGIN + row * LEADING + SIZE - 2
    return f'  <text x="{x:.1f}" y="{y:.1f}"{style}>{escape(content)}</text>'


def drawn(laneval):
    """Return the picture."""
    body = [text(0, 0, "$", "prompt"), text(2, 0, SHOWN, "typed")]
    row = 2
    for line in printed(laneval).partition(CUT)[0].rstrip("\n").split("\n"):
        if line and not line.strip("─"):
            y = BAR + MARGIN + row * LEADING + SIZE / 2
            body.append(f'  <path class="rule" d="M{MARGIN} {y:.1f}H{MARGIN + len(line) * ADVANCE:.1f}"/>')
            row += 1
            continue
        quiet = "quiet" if "permutations, seed" in line or line.startswith(("*", "bold")) else ""
        for part in wrapped(line) if len(BOLD.sub("", line)) > COLUMNS else [line]:
            body += [text(column, row, content, "bold" if bold else quiet) for column, content, bold in pieces(part)]
            row += 1
    width, height = round(2 * MARGIN + COLUMNS * ADVANCE), BAR + 2 * MARGIN + row * LEADING
    dots = "".join(f'<circle class="dot" cx="{MARGIN + at * 18}" cy="{BAR / 2}" r="5.5"/>' for at in range(3))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        "  <title>laneval compare on three sample runs: a table of averages, and in words which run is better</title>",
        "  <!-- Written by docs/picture.py. -->",
        f"  <style>\n{STYLE}  </style>",
        f'  <rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="9"/>',
        f'  <path class="bar" d="M1 {BAR}V10a9 9 0 0 1 9-9H{width - 10}a9 9 0 0 1 9 9V{BAR}Z"/>',
        f'  <path class="edge" d="M1 {BAR}H{width - 1}"/>',
        f"  {dots}",
        *body,
        "</svg>",
        "",
    ])


def main():
    """Write or check the picture."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--laneval", required=True, type=os.path.abspath, help="the command")
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if the picture is out of date")
    options = parser.parse_args()
    picture = drawn(options.laneval)
    if not options.check:
        PICTURE.write_text(picture, encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != picture:
        sys.exit(f"{PICTURE.relative_to(ROOT)} is out of date: run docs/picture.py --laneval {options.laneval}")


if __name__ == "__main__":
    main()
