"""Checks the workflows that docs/ci.md and docs/golden-set-to-gate.md offer, and those of this repository.

Each block of YAML there is a whole file, whose first line is its path. Those of GitHub pass actionlint (with ShellCheck for their scripts), that
of GitLab its schema. Then their steps run, in a folder with the samples: the commands as they stand, and stand-ins for what only a build
server has. A run that is worse has to end with exit code 1 and leave its reports, the same run again with 0, and no baseline with 2.

    python docs/workflows.py --laneval target/release/laneval
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent
DATA = ROOT / "examples/data"
VERSION = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
PAGES = [ROOT / "docs/ci.md", ROOT / "docs/golden-set-to-gate.md"]

# Programs that a build server has. `curl` keeps one file for all addresses, and hands out the archive of a release.
STAND_INS = {
    "pip": f'[ "$*" = "install laneval=={VERSION}" ]',
    "search.sh": '[[ "$*" = queries.tsv || "$*" = golden.jsonl ]] && cat "$SERVED"',
    "curl": """
        while [ $# -gt 0 ]; do
            case $1 in
                --upload-file) cp "$2" "$KEPT/main.json"; exit ;;
                --output) to=$2; shift ;;
            esac
            shift
        done
        if [ "$to" = main.json ]; then cp "$KEPT/main.json" main.json 2>/dev/null || exit 22; else cp "$KEPT/archive.tar.gz" "$to"; fi""",
}


def blocks() -> dict[str, str]:
    """The blocks of YAML by their paths."""
    pages = "".join(page.read_text() for page in PAGES)
    found = re.findall(r"^```yaml\n(# (\S+)\n.*?)^```$", pages, re.MULTILINE | re.DOTALL)
    assert len(found) == pages.count("```yaml"), "a block of YAML does not begin with its path"
    return {path: text for text, path in found}


def lint(texts: dict[str, str]) -> None:
    """Checks what stands in workflows."""
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for path, text in texts.items():
            files[path] = Path(folder, path.replace("/", "-").lstrip("."))
            files[path].write_text(text)
        github = [str(file) for path, file in files.items() if path.startswith(".github/")]
        own = sorted(map(str, ROOT.glob(".github/workflows/*.yml")))
        scripts = sorted(map(str, ROOT.glob(".github/actions/*.sh")))
        assert len(github) >= 3 and len(own) >= 4 and len(scripts) >= 2, "a folder of workflows or scripts was moved"
        schema = [TOOLS / "check-jsonschema", "--quiet", "--builtin-schema"]
        commands = [
            [TOOLS / "actionlint", "-no-color", "-shellcheck", TOOLS / "shellcheck", *github, *own],
            [TOOLS / "shellcheck", *scripts, ROOT / ".ci/run"],
            [*schema, "vendor.github-workflows", *github, *own],
            [*schema, "vendor.github-actions", ROOT / "action.yml"],
            [*schema, "vendor.gitlab-ci", files[".gitlab-ci.yml"]],
        ]
        for command in commands:
            subprocess.run(command, cwd=ROOT, check=True)


class Server:
    """A folder for each job, and what is kept between jobs."""

    def __init__(self, laneval: Path, place: Path) -> None:
        self.kept = place / "kept"
        self.programs = place / "programs"
        self.place = place
        self.uploaded: dict[str, str] = {}
        self.jobs = 0
        self.sources = {"qrels.txt": DATA / "demo.qrels"}  # what is checked out, by its name there
        for folder in (self.kept, self.programs):
            folder.mkdir()
        for name, script in STAND_INS.items():
            self.program(name, f"#!/usr/bin/env bash\nset -eu\n{script}\n")
        (self.programs / "laneval").symlink_to(laneval)
        release = place / f"laneval-v{VERSION}-x86_64-unknown-linux-gnu"
        release.mkdir()
        shutil.copy(laneval, release / "laneval")
        subprocess.run(["tar", "-czf", self.kept / "archive.tar.gz", release.name], cwd=place, check=True)

    def program(self, name: str, text: str) -> None:
        file = self.programs / name
        file.write_text(text)
        file.chmod(0o755)

    def begin(self, served: str) -> tuple[Path, dict[str, str]]:
        """The folder and the environment of a job, whose search returns a sample, or another file."""
        self.jobs += 1
        self.uploaded = {}
        folder = self.place / f"job-{self.jobs}"
        folder.mkdir()
        for name, file in self.sources.items():
            shutil.copy(file, folder / name)
        shutil.copy(self.programs / "search.sh", folder / "search.sh")
        files = {name: self.place / f"{name}-{self.jobs}" for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_PATH", "RUNNER_TEMP")}
        for name, file in files.items():
            file.mkdir() if name == "RUNNER_TEMP" else file.touch()
        environment = {
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "SERVED": str(DATA / served),
            "KEPT": str(self.kept),
            **{name: str(file) for name, file in files.items()},
        }
        return folder, environment

    def run(self, command: list[str], folder: Path, environment: dict[str, str]) -> int:
        return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode

    def github(self, job: dict, served: str) -> tuple[int, str]:
        """Runs a job, and returns the exit code of the first step that failed, and the summary."""
        folder, environment = self.begin(served)
        outputs: dict[str, str] = {"vars.LANEVAL_ARCHIVE": "https://example.org/laneval.tar.gz"}
        outputs["vars.LANEVAL_SHA256"] = subprocess.check_output(["sha256sum", self.kept / "archive.tar.gz"], text=True).split()[0]
        failed = 0
        for step in job["steps"]:
            condition = str(step.get("if", ""))
            asked = re.search(r"hashFiles\('(.*?)'\)", condition)
            if (failed and "always()" not in condition) or (asked and not (folder / asked[1]).exists()):
                continue
            given = {name: filled(str(value), outputs) for name, value in {**step.get("env", {}), **step.get("with", {})}.items()}
            if "run" in step:
                assert "${{" not in step["run"], "what is filled in becomes a part of the script"
                code = self.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], folder, {**environment, **given})
            else:
                code = self.uses(step["uses"], given, folder, environment)
            for line in re.finditer(r"^(\w+)<<(.+)\n(?s:(.*?))\n\2$", Path(environment["GITHUB_OUTPUT"]).read_text(), re.MULTILINE):
                outputs[f"steps.{step.get('id')}.outputs.{line[1]}"] = line[3]
            failed = failed or code
        self.outputs = outputs
        return failed, Path(environment["GITHUB_STEP_SUMMARY"]).read_text()

    def uses(self, action: str, given: dict[str, str], folder: Path, environment: dict[str, str]) -> int:
        """Does what an action does, and returns its exit code."""
        name, version = action.split("@")
        if name == "actions/cache/save":
            shutil.copy(folder / given["path"], self.kept)
        elif name == "actions/cache/restore":
            if (self.kept / given["path"]).exists():
                shutil.copy(self.kept / given["path"], folder)
        elif name == "actions/upload-artifact":
            self.uploaded = {path: (folder / path).read_text() for path in given["path"].split() if (folder / path).exists()}
        elif name == "OWNER/laneval":
            expect((version, given["version"]), (f"v{VERSION}", VERSION), "the version of the action")
            return self.composite(given, folder, environment)
        else:
            assert name in ("actions/checkout", "actions/setup-python"), f"there is no stand-in for {name}"
        return 0

    def composite(self, given: dict[str, str], folder: Path, environment: dict[str, str]) -> int:
        """Runs the last step of action.yml; the one before installs."""
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        assert set(given) <= set(action["inputs"]), "an input that action.yml does not have"
        inputs = {f"inputs.{name}": given.get(name, of.get("default")) for name, of in action["inputs"].items()}
        known = {**inputs, "steps.install.outputs.command": str(self.programs / "laneval")}
        step = action["runs"]["steps"][-1]
        of_step = {name: filled(value, known) for name, value in step["env"].items()}
        return self.run(["bash", "-e", "-c", step["run"]], folder, {**environment, "GITHUB_ACTION_PATH": str(ROOT), **of_step})

    def gitlab(self, job: dict, served: str) -> int:
        """Runs a job, and returns its exit code."""
        folder, environment = self.begin(served)
        script = "\n".join([*job["before_script"], *job["script"]])
        code = self.run(["bash", "-e", "-o", "pipefail", "-c", script], folder, {**environment, "SCORES": "https://example.org", "CI_JOB_TOKEN": "token"})
        artifacts = job.get("artifacts", {})
        paths = [*artifacts.get("paths", []), *artifacts.get("reports", {}).values()]
        if code and artifacts.get("when") != "always":
            paths = []
        self.uploaded = {path: (folder / path).read_text() for path in paths if (folder / path).exists()}
        return code


def filled(text: str, known: dict[str, str]) -> str:
    """A text with what stands for its expressions; a name of a commit is any text."""
    return EXPRESSION.sub(lambda found: str(known.get(found[1], "commit" if found[1].startswith("github.") else "")), text)


def expect(found: object, expected: object, what: str) -> None:
    assert found == expected, f"{what}: {found!r}, and {expected!r} was expected"


def try_github(texts: dict[str, str], laneval: Path) -> None:
    """Runs the workflow of GitHub with the command, and the one with the action, and the one with the program of a release."""
    workflow, by_action, binary = (yaml.safe_load(texts[f".github/workflows/search{of}.yml"])["jobs"] for of in ("", "-action", "-binary"))
    with tempfile.TemporaryDirectory() as place:
        server = Server(laneval, Path(place))
        for name, job in [("command", workflow["compare"]), ("action", by_action["compare"])]:
            (server.kept / "main.json").unlink(missing_ok=True)
            code, summary = server.github(job, "demo-hybrid.run")
            expect((code, server.uploaded), (2, {}), f"{name}, no baseline")
            assert "|" not in summary, summary
            expect(server.github(workflow["baseline"], "demo-hybrid.run"), (0, ""), "baseline")
            code, summary = server.github(job, "demo-bm25.run")
            expect((code, sorted(server.uploaded)), (1, ["gates.xml", "page.html"]), f"{name}, a worse run")
            assert summary.startswith("**new is worse than main: nDCG@10 -0.165") and "FAILED: 2 gates" in summary, summary
            expect(server.uploaded["gates.xml"].count("<failure"), 2, "failures")
            code, summary = server.github(job, "demo-hybrid.run")
            expect((code, sorted(server.uploaded)), (0, ["gates.xml", "page.html"]), f"{name}, the same run")
            assert summary.startswith("**new and main have the same nDCG@10"), summary
        expect(server.outputs["steps.laneval.outputs.passed"], "true", "the output of the action")
        assert server.outputs["steps.laneval.outputs.verdict"].startswith("new and main have the same"), server.outputs
        for served, expected in [("demo-hybrid.run", 0), ("demo-bm25.run", 1)]:
            (server.programs / "laneval").unlink(missing_ok=True)
            server.program("laneval", '#!/usr/bin/env bash\nexec "$PWD/laneval/laneval" "$@"\n')  # as GITHUB_PATH has it
            expect(server.github(binary["evaluate"], served)[0], expected, f"the program of a release, {served}")


def try_gitlab(text: str, laneval: Path) -> None:
    """Runs the jobs of GitLab."""
    found = yaml.safe_load(text)
    baseline, compare = ({**found[".laneval"], **found[name]} for name in ("baseline", "compare"))
    with tempfile.TemporaryDirectory() as place:
        server = Server(laneval, Path(place))
        expect((server.gitlab(compare, "demo-hybrid.run"), server.uploaded), (22, {}), "no baseline")
        expect(server.gitlab(baseline, "demo-hybrid.run"), 0, "baseline")
        reports = ["gates.xml", "page.html", "summary.md"]
        expect((server.gitlab(compare, "demo-bm25.run"), sorted(server.uploaded)), (1, reports), "a worse run")
        expect((server.gitlab(compare, "demo-hybrid.run"), sorted(server.uploaded)), (0, reports), "the same run")


def try_golden(text: str, laneval: Path) -> None:
    """Runs the workflow of the golden set, after the commands of its page, which write the files."""
    gate = yaml.safe_load(text)["jobs"]["gate"]
    commands = re.findall(r"^```sh\n(.*?)^```$", PAGES[1].read_text(), re.MULTILINE | re.DOTALL)
    with tempfile.TemporaryDirectory() as place:
        server = Server(laneval, Path(place))
        written = Path(place, "written")
        written.mkdir()
        environment = {"PATH": f"{server.programs}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        subprocess.run(["bash", "-euc", "\n".join(commands)], cwd=written, env=environment, check=True, capture_output=True)
        server.sources = {"golden.jsonl": written / "golden.jsonl"}
        expect(server.github(gate, str(written / "main.jsonl")), (2, ""), "no baseline")
        server.sources["main.json"] = written / "main.json"
        code, summary = server.github(gate, str(written / "new.jsonl"))
        assert code == 1 and "FAILED: 2 gates" in summary, summary
        code, summary = server.github(gate, str(written / "main.jsonl"))
        assert code == 0 and "PASSED: 2 gates" in summary, summary
        with (written / "golden.jsonl").open("a") as golden:
            golden.write('{"id": "q11", "query": "Is there a warranty?", "relevant_ids": ["returns"]}\n')
        expect(server.github(gate, str(written / "main.jsonl")), (2, ""), "another golden set")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--laneval", type=Path, required=True)
    laneval = parser.parse_args().laneval.resolve()
    texts = blocks()
    lint(texts)
    try_github(texts, laneval)
    try_gitlab(texts[".gitlab-ci.yml"], laneval)
    try_golden(texts[".github/workflows/retrieval.yml"], laneval)
    print(f"{len(texts)} workflows of {len(PAGES)} pages, checked and run")


main()
