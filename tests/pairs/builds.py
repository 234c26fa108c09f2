"""Builds of laneval to compare: that of a revision of git, and that of the working tree, each the command and the Python package.

A build is kept in target/pairs/built, under a hash of the sources that it is made of, so that each is made once, and sources that are equal have
one. The source of a revision is in target/pairs/source, and Cargo builds it in target/pairs/cargo: to Cargo the packages of two checkouts are the
same, and it would take what it has of one for what it is asked of the other.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "pairs"
PYTHON = FOLDER / "python" / "bin" / "python"
# What no build is made of: tests, texts, benches, examples.
NO_SOURCE = re.compile(r"(?:\S+/)?(?:tests|benches)/|(?:docs|examples|fuzz|\.ci|\.github)/|[^/]*\.md$|[^/]*file$|[^/]*\.yml$")


@dataclasses.dataclass(frozen=True)
class Source:
    """What is built: its name, the hash of its sources, its folder, and the folder of what is built of it."""

    name: str
    key: str
    root: pathlib.Path

    @property
    def built(self) -> pathlib.Path:
        return FOLDER / "built" / self.key

    def cargo(self, own: pathlib.Path, profile: str) -> dict[str, str]:
        """Where Cargo builds: `own` of the working tree, or that of revisions, which begins with the dependencies in `own`. The files of a
        revision are newer than everything then, so that Cargo builds it, whichever it built before."""
        if self.root == ROOT:
            return {"CARGO_TARGET_DIR": str(own)}
        to = FOLDER / "cargo" / profile
        if not to.exists() and (own / profile).exists():
            shutil.copytree(own / profile, to, symlinks=True, ignore=shutil.ignore_patterns("*laneval*", "incremental", "examples"))
        for path in self.root.rglob("*"):
            path.touch()
        return {"CARGO_TARGET_DIR": str(to.parent)}


@dataclasses.dataclass(frozen=True)
class Build:
    """What was built: its source, the command, the folder of the Python package, if it was asked for, and a folder to keep things in."""

    source: Source
    command: pathlib.Path
    package: pathlib.Path
    folder: pathlib.Path

    @property
    def name(self) -> str:
        return self.source.name


def printed(*words: object, cwd: pathlib.Path = ROOT, **env: str) -> str:
    """What a command prints; if it fails, so does the whole, with what it said."""
    found = subprocess.run([str(word) for word in words], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True)
    if found.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, words))} failed\n{found.stdout}{found.stderr}")
    return found.stdout


def revision(name: str) -> Source:
    """A revision, unpacked if it is not there."""
    known = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"], cwd=ROOT, capture_output=True, text=True)
    if known.returncode != 0:
        sys.exit(f"error: git knows no revision {name!r}: a commit, a branch or a tag was expected")
    commit = known.stdout.strip()
    source = FOLDER / "source" / commit[:12]
    if not source.exists():
        begun = _empty(source.with_name("begun"))
        archive = subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE)
        # Times of files are those of now: Cargo would take those of the commit for older than what it has built.
        subprocess.run(["tar", "-xm", "-C", str(begun)], stdin=archive.stdout, check=True)
        begun.rename(source)
    return Source(commit[:12], _key(commit), source)


def tree() -> Source:
    """The working tree, with the files that git does not know yet."""
    with tempfile.TemporaryDirectory() as name:
        index = {"GIT_INDEX_FILE": f"{name}/index"}
        printed("git", "read-tree", "HEAD", **index)
        printed("git", "add", "--all", **index)
        of = printed("git", "write-tree", **index).strip()
    commit = printed("git", "rev-parse", "--short=12", "HEAD").strip()
    changed = " with changes" if of != printed("git", "rev-parse", "HEAD^{tree}").strip() else ""
    return Source(f"{commit}{changed}", _key(of), ROOT)


def both(name: str, *, package: bool) -> tuple[Build, Build]:
    """The builds of a revision and of the working tree, as users have them, with the Python package or without it."""
    one, two = (_built(source, package) for source in (revision(name), tree()))
    if one.folder == two.folder:
        _say("the sources of both are the same: one build is compared with itself")
    return one, two


def plain_command(source: Source) -> pathlib.Path:
    """The command without optimisation, in which functions are those of the source, with the numbers of lines. The folder of its source is in the
    file `root` beside it."""
    profile = {"CARGO_PROFILE_DEV_DEBUG": "line-tables-only", "CARGO_PROFILE_DEV_OPT_LEVEL": "0"}
    return _command(source, "plain", ROOT / "target" / "trips", "debug", profile)


def _key(of: str) -> str:
    """A hash of the sources in a tree of git."""
    lines = printed("git", "ls-tree", "-r", of).splitlines()
    return hashlib.sha256("\n".join(line for line in lines if not NO_SOURCE.match(line.split("\t")[1])).encode()).hexdigest()[:12]


def _built(source: Source, package: bool) -> Build:
    target = ROOT / "target"
    build = Build(source, _command(source, "bin", target, "release", {}, "--release"), source.built / "package", source.built)
    if package and not build.package.exists():
        _say(f"building the Python package of {source.name}")
        wheels, begun = _empty(source.built / "wheels"), _empty(source.built / "begun")
        printed(PYTHON, "-m", "maturin", "build", "--quiet", "--out", wheels, cwd=source.root, **source.cargo(target, "wheel"))
        install = ("install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", begun)
        printed(PYTHON, "-m", "pip", *install, *wheels.iterdir())
        begun.rename(build.package)
    return build


def _command(source: Source, name: str, target: pathlib.Path, profile: str, env: dict[str, str], *words: str) -> pathlib.Path:
    """Builds the command, and keeps it under a name."""
    kept = source.built / name / "laneval"
    if not kept.exists():
        _say(f"building the command of {source.name}")
        env = {**env, **source.cargo(target, profile)}
        printed("cargo", "build", "--quiet", "--locked", "--package", "laneval-cli", *words, cwd=source.root, **env)
        begun = _empty(source.built / f"begun-{name}")
        shutil.copy2(pathlib.Path(env["CARGO_TARGET_DIR"]) / profile / "laneval", begun)
        (begun / "root").write_text(str(source.root))
        begun.rename(kept.parent)
    return kept


def _empty(folder: pathlib.Path) -> pathlib.Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
