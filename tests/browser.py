"""Show pages of the command to Chromium: wide and on a phone, light and dark, printed. Nothing may be logged, blank, wider than the screen,
clipped on paper, or a violation of the accessibility rules of axe-core. Screenshots stay in the folder of --keep, to be looked at.

Chromium is spoken to through a pipe, in its DevTools protocol, so one process shows all pages as they are: their policy forbids scripts, and
what the protocol runs is no part of them. axe-core is one file, which .ci/run brings.
"""

import argparse
import base64
import fcntl
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "examples" / "data"
AXE = ROOT / "target" / "axe" / "axe_playwright_python" / "axe.min.js"
WIDE, PHONE, PAPER = 1280, 390, 680  # pixels; the last is what margins leave of A4
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]

# A table on a phone has a number beside its names, without scrolling. Each page has such tables.
NUMBERS = """[...document.querySelectorAll('.w1')].filter(table => table.getClientRects().length)
  .map(table => table.querySelector('tbody td:not(.words)')).filter(cell => cell)"""
FAR = NUMBERS + """.filter(cell => cell.getBoundingClientRect().right > innerWidth)
  .map(cell => cell.closest('section').id + ': ' + cell.closest('tr').textContent.slice(0, 60))"""
# What is folded is open on paper, and no table is cut off.
CLOSED = """[...document.querySelectorAll('details:not([open]) > :not(summary)')]
  .filter(inside => inside.getBoundingClientRect().height === 0).map(inside => 'hidden on paper: ' + inside.outerHTML.slice(0, 80))"""
CLIPPED = """[...document.querySelectorAll('table')].filter(table => table.getBoundingClientRect().right > innerWidth + 1)
  .map(table => 'clipped on paper: ' + Math.ceil(table.getBoundingClientRect().right) + ' ' + table.textContent.slice(0, 60))"""
FEWER = "document.querySelectorAll('tbody tr:nth-child(n+25), svg > :not(title):not(desc)').forEach(of => of.remove())"
VIOLATIONS = """axe.run(document, {runOnly: {type: KIND, values: VALUES}, resultTypes: ['violations', 'passes'], selectors: false}).then(found => ({
  contrasts: found.passes.filter(rule => rule.id === 'color-contrast').flatMap(rule => rule.nodes).length,
  violations: found.violations.map(rule => rule.id + ' (' + rule.nodes.length + '): ' + rule.nodes[0].html.slice(0, 160)
    + ' ' + rule.nodes[0].any.concat(rule.nodes[0].all, rule.nodes[0].none).map(check => check.message).join('; '))}))"""


class Browser:
    """Chromium without a window, and one page in it."""

    def __init__(self, profile: str) -> None:
        ours, theirs = os.pipe(), os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4. Ours are moved out of their way.
        reads, answers = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (ours[0], theirs[1]))
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(
            ["chromium", *options, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4),
            preexec_fn=lambda: (os.dup2(reads, 3), os.dup2(answers, 4)),
        )
        for end in (ours[0], theirs[1], reads, answers):
            os.close(end)
        self.to, self.answers, self.rest = ours[1], theirs[0], b""
        self.last, self.session, self.logged = 0, None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: object) -> dict:
        """Send a command, and give its result."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        sent = json.dumps(message).encode() + b"\0"
        while sent:
            sent = sent[os.write(self.to, sent):]
        while True:
            answer = self.next()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def next(self) -> dict:
        """Give the next message, and keep what the page logs."""
        while b"\0" not in self.rest:
            read = os.read(self.answers, 1 << 20)
            if not read:
                raise RuntimeError("Chromium has ended")
            self.rest += read
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        if message.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.logged.append(json.dumps(message["params"])[:300])
        return message

    def show(self, url: str, width: int, scheme: str, media: str = "screen") -> None:
        """Go to a page on a screen, or on paper."""
        phone = width == PHONE
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=844 if phone else 900, deviceScaleFactor=1, mobile=phone)
        self.look(scheme, media)
        self.ask("Page.navigate", url=url)
        while self.next().get("method") != "Page.loadEventFired":
            pass

    def look(self, scheme: str, media: str = "screen") -> None:
        self.ask("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def value(self, expression: str) -> object:
        """Give the value of an expression in the page."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"])[:1000])
        return result["result"].get("value")

    def picture(self, whole: bool = False) -> bytes:
        return base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    def close(self) -> None:
        self.session = None
        self.ask("Browser.close")
        self.process.wait(timeout=30)


def violations(browser: Browser, kind: str, values: list[str], fewest: int = 20) -> list[str]:
    """Run axe-core. Contrasts are counted, so that none computed is not taken for none wrong."""
    found = browser.value(VIOLATIONS.replace("KIND", json.dumps(kind)).replace("VALUES", json.dumps(values)))
    few = [f"contrasts of {found['contrasts']} texts only"] if found["contrasts"] < fewest else []
    return found["violations"] + few


def wrong(browser: Browser, url: str, axe: str, keep) -> list[str]:
    """Say what is wrong with a page on each screen and on paper."""
    found = []

    def note(screen: str, things: list[str]) -> None:
        found.extend(f"{screen}: {thing}" for thing in things)

    for screen, width in (("wide", WIDE), ("phone", PHONE)):
        browser.show(url, width, "light")
        keep(screen, browser.picture(keep.all))
        overflow = browser.value("document.documentElement.scrollWidth")
        note(screen, [f"{overflow} pixels wide"] if overflow > width else [])
        if width == PHONE:
            note(screen, browser.value(FAR) if browser.value(f"{NUMBERS}.length") else ["no table with numbers"])
        browser.value("document.querySelectorAll('details').forEach(details => details.open = true)")
        overflow = browser.value("document.documentElement.scrollWidth")
        note(screen, [f"{overflow} pixels wide when unfolded"] if overflow > width else [])
        browser.value(axe + ";0")
        # Contrasts take the time of all other rules together, and do not depend on the width: light ones are computed wide, dark ones on
        # the phone. Rows far down a table are like those above them, and what charts draw is judged by its title and description; the
        # colours of its text are held to the same contrasts in src/report/html/page.rs.
        browser.value(FEWER)
        if width == WIDE:
            note(screen, violations(browser, "tag", RULES))
        else:
            note(screen, violations(browser, "rule", ["scrollable-region-focusable"], 0))
            browser.look("dark")
            dark = browser.value("getComputedStyle(document.body).backgroundColor")
            note(screen, [f"{dark} is not dark"] if dark != "rgb(20, 23, 26)" else [])
            note(f"{screen}, dark", violations(browser, "rule", ["color-contrast"]))
        if keep.all:
            browser.show(url, width, "dark")
            keep(f"{screen}-dark", browser.picture(True))
    browser.show(url, PAPER, "light", "print")
    note("paper", browser.value(CLOSED) + browser.value(CLIPPED))
    keep("paper", browser.picture(keep.all))
    note("log", browser.logged)
    browser.logged.clear()
    return found


def many_runs(folder: pathlib.Path) -> list[str]:
    """Make runs of 60 systems over the sample's queries, some with names that pages have to take apart."""
    chance = random.Random(7)
    judged = [line.split() for line in (DATA / "demo.qrels").read_text().splitlines()]
    documents: dict[str, list[tuple[str, int]]] = {}
    for query, _, document, grade in judged:
        documents.setdefault(query, []).append((document, int(grade)))
    names = []
    for system in range(60):
        quality = 0.3 + 0.1 * (system % 13) + 0.01 * system
        lines = []
        for query, of_query in documents.items():
            scored = [(quality * min(grade, 2) + chance.gauss(0, 1), document) for document, grade in of_query]
            scored += [(chance.gauss(0, 1), f"x{query}-{other}") for other in range(30)]
            lines += [f"{query} Q0 {document} 0 {score:.4f} t\n" for score, document in sorted(scored, reverse=True)]
        path = folder / f"system-{system:02}.run"
        path.write_text("".join(lines))
        names.append(f"system-{system:02}={path}")
    return names


def hostile(folder: pathlib.Path) -> list[str]:
    """Make the sample with long names, names and ids that are written from right to left, and markup."""
    renamed = {"01": "<script>alert(1)</script>", "02": "שאילתה-שתיים", "03": "سؤال", "04": "q" * 70}

    def rename(name: str) -> str:
        lines = (line.split(" ", 1) for line in (DATA / name).read_text().replace("\t", " ").splitlines())
        return "".join(f"{renamed.get(query, query)} {rest}\n" for query, rest in lines)

    for name in ("demo.qrels", "demo-bm25.run", "demo-dense.run", "demo-hybrid.run"):
        (folder / name).write_text(rename(name))
    names = ["a-" + "long-name-" * 6 + "of-bm25", "<script>alert(2)</script>", "מערכת-משולבת"]
    files = ("bm25", "dense", "hybrid")
    return [str(folder / "demo.qrels"), *(f"{name}={folder / f'demo-{of}.run'}" for name, of in zip(names, files))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laneval", default=ROOT / "target" / "release" / "laneval")
    parser.add_argument("--axe", type=pathlib.Path, default=AXE, help="axe.min.js")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for pages and screenshots")
    arguments = parser.parse_args()
    axe = arguments.axe.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        qrels = str(DATA / "demo.qrels")
        runs = [f"{name}={DATA / f'demo-{name}.run'}" for name in ("bm25", "dense", "hybrid")]
        many = many_runs(pathlib.Path(scratch))
        gates = ["--fail-if", "nDCG@10 drops > 0.005", "--fail-if", "AP < 0.9"]
        commands = {
            "two.html": ["compare", qrels, runs[0], runs[2], "--baseline", "bm25", *gates],
            "three.html": ["compare", qrels, *runs, "--margin", "0.05"],
            "sixty.html": ["compare", qrels, *many],
            "hostile.html": ["compare", *hostile(pathlib.Path(scratch)), "--title", "A <b>title</b>"],
            "scores.html": ["eval", qrels, *runs],
            "scores-of-sixty.html": ["eval", qrels, *many],
            "query.html": ["show", qrels, *runs, "--query", "01", "--topics", str(DATA / "demo-titles.tsv")],
            "differences.svg": ["compare", qrels, *runs],
            "curve.svg": ["eval", qrels, *runs, "-m", "nDCG@1..30"],
        }
        browser = Browser(f"{scratch}/profile")
        faults = []
        browser.show("about:blank", WIDE, "light")
        blank = len(browser.picture(bool(arguments.keep)))
        for name, command in commands.items():
            path = folder / name
            done = subprocess.run([arguments.laneval, *command, "--quiet", "-o", path], capture_output=True, text=True)
            if done.returncode != (1 if "--fail-if" in command else 0):
                sys.exit(f"{name}: {done.stderr}")
            url = f"file://{path.resolve()}"

            def keep(screen: str, picture: bytes, name: str = name) -> None:
                if picture and len(picture) < 1.5 * blank:
                    faults.append(f"{name}, {screen}: nothing is seen")
                if arguments.keep and picture:
                    (folder / f"{name}.{screen}.png").write_bytes(picture)

            keep.all = bool(arguments.keep)
            if name.endswith(".svg"):
                browser.show(url, WIDE, "light")
                keep("wide", browser.picture())
                faults += browser.logged
                browser.logged.clear()
            else:
                faults += [f"{name}, {fault}" for fault in wrong(browser, url, axe, keep)]
        browser.close()
        print(f"{len(commands)} pages and charts, on screens wide and narrow, light and dark, and on paper: {len(faults)} wrong")
        sys.exit("\n".join(faults) if faults else 0)


if __name__ == "__main__":
    main()
