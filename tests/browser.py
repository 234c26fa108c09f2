"""Show pages of the command to Chromium, wide and narrow, light and dark. Fail where one logs anything or shows nothing.
Screenshots stay in the folder of --keep, to be looked at."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "examples" / "data"
SCREENS = {"wide": ("1200,5200", []), "dark": ("1200,5200", ["--blink-settings=preferredColorScheme=0"]), "phone": ("390,9000", [])}


def shown(page: str, picture: pathlib.Path, size: str, options: list[str], profile: str) -> str:
    """Take a screenshot, and give what the page logged."""
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"]
    command += [f"--user-data-dir={profile}", f"--window-size={size}", f"--screenshot={picture}", *options, page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laneval", default=ROOT / "target" / "release" / "laneval")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for pages and screenshots")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        runs = [f"{name}={DATA / f'demo-{name}.run'}" for name in ("bm25", "dense", "hybrid")]
        common = [str(DATA / "demo.qrels"), *runs, "--quiet", "-o"]
        commands = {
            "comparison.html": ["compare", *common, str(folder / "comparison.html"), "--margin", "0.05"],
            "scores.html": ["eval", *common, str(folder / "scores.html")],
            "query.html": ["show", *common, str(folder / "query.html"), "--query", "01", "--titles", str(DATA / "demo-titles.tsv")],
            "differences.svg": ["compare", *common, str(folder / "differences.svg")],
            "curve.svg": ["eval", *common, str(folder / "curve.svg"), "-m", "nDCG@1..30"],
        }
        wrong = []
        for name, command in commands.items():
            subprocess.run([arguments.laneval, *command], check=True)
            for screen, (size, options) in SCREENS.items():
                picture, blank = folder / f"{name}.{screen}.png", pathlib.Path(scratch) / f"{screen}.png"
                logged = shown(f"file://{folder.resolve() / name}", picture, size, options, f"{scratch}/profile")
                if logged:
                    wrong.append(f"{name}, {screen}: {logged}")
                if not blank.exists():
                    shown("about:blank", blank, size, options, f"{scratch}/profile")
                if picture.stat().st_size < 1.5 * blank.stat().st_size:
                    wrong.append(f"{name}, {screen}: nothing is seen")
        print(f"{len(commands)} pages, {len(SCREENS)} screens each: {len(wrong)} wrong")
        sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
