"""The files by which the project is published, held to GitHub's schemas and to this repository."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from rattler import MatchSpec

from shardlab_authoring import lanes

ROOT = pathlib.Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = {path.stem: path for path in sorted((GITHUB / "workflows").iterdir())}
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").iterdir() if path.name != "config.yml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MAKEFILE = (ROOT / "Makefile").read_text()
MAY_WRITE = {("book", "deploy"): {"pages", "id-token"}, ("release", "publish"): {"id-token"}}
BRING_PYTHON = (
    ".devcontainer/devcontainer.json",
    ".github/workflows/book.yml",
    ".github/workflows/newer.yml",
    ".github/workflows/release.yml",
    ".github/workflows/rest.yml",
    "binder/environment.yml",
    "environment.yml",
    "grader/Containerfile",
)
ASKS = {"checkboxes", "dropdown", "input", "textarea"}
"""The elements of a form that a reader fills in; `markdown` only says something."""


def parsed(path: pathlib.Path) -> dict[Any, Any]:
    """A YAML file. PyYAML reads the key `on` as true."""
    found: dict[Any, Any] = yaml.safe_load(path.read_text())
    return found


def jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every job with the names of its workflow and its own."""
    for name, path in WORKFLOWS.items():
        for job, given in parsed(path)["jobs"].items():
            yield name, job, given


JOBS = [pytest.param(*given, id=f"{given[0]}-{given[1]}") for given in jobs()]


def targets(command: str) -> list[str]:
    """What a shell command asks make for, in each of its parts."""
    words = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    found: list[str] = []
    first, making = True, False
    for word in words:
        if set(word) <= set(";&|"):
            first, making = True, False
            continue
        if making and "=" not in word and not word.startswith("-"):
            found.append(word)
        making = making or (first and word == "make")
        first = False
    return found


def makes(target: str) -> bool:
    """Whether make knows how to make a target; it names what it would do, and does nothing."""
    return subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True).returncode == 0


def checked(schema: str, *paths: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """What check-jsonschema says of files, by a schema that it brings along: it asks nobody."""
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--no-cache",
        "--builtin-schema",
        f"vendor.{schema}",
        *map(str, paths),
    ]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        pytest.param("github-workflows", list(WORKFLOWS.values()), id="workflows"),
        pytest.param("github-issue-forms", FORMS, id="forms"),
        pytest.param("github-issue-config", [GITHUB / "ISSUE_TEMPLATE" / "config.yml"], id="config"),
        pytest.param("citation-file-format", [ROOT / "CITATION.cff"], id="citation"),
    ],
)
def test_files_keep_to_their_schema(schema: str, paths: list[pathlib.Path]) -> None:
    """GitHub's files, and the citation, are what their published schemas allow."""
    done = checked(schema, *paths)
    assert paths and done.returncode == 0, done.stdout + done.stderr


@pytest.mark.thorough(after=3)
@pytest.mark.parametrize(
    ("schema", "path", "right", "wrong"),
    [
        pytest.param("github-workflows", WORKFLOWS["book"], "runs-on", "run-on", id="runner"),
        pytest.param("github-workflows", WORKFLOWS["book"], "contents: read", "contents: reed", id="permission"),
        pytest.param("github-issue-forms", FORMS[0], "type: dropdown", "type: menu", id="element"),
        pytest.param("github-issue-forms", FORMS[0], "description:", "about:", id="description"),
    ],
)
def test_schemas_refuse(schema: str, path: pathlib.Path, right: str, wrong: str, tmp_path: pathlib.Path) -> None:
    """A misspelt word in one of the files is noticed."""
    broken = tmp_path / path.name
    broken.write_text(path.read_text().replace(right, wrong, 1))
    assert broken.read_text() != path.read_text()
    assert checked(schema, broken).returncode == 1


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_may_only_read(name: str) -> None:
    """By default a workflow reads the repository and nothing else, and two runs of it do not get in each other's way."""
    given = parsed(WORKFLOWS[name])
    assert given["permissions"] == {"contents": "read"}
    assert given["concurrency"]["group"] and "cancel-in-progress" in given["concurrency"]


@pytest.mark.parametrize(("workflow", "name", "job"), JOBS)
def test_a_job_has_what_it_needs(workflow: str, name: str, job: dict[str, Any]) -> None:
    """It names its machine and its time limit; it may write only where it must, and then in an environment."""
    if "uses" in job:
        assert (ROOT / job["uses"]).is_file()
        assert "workflow_call" in parsed(ROOT / job["uses"])[True]
        return
    assert job["runs-on"] and job["timeout-minutes"]
    permissions = job.get("permissions", {})
    assert set(permissions) == MAY_WRITE.get((workflow, name), set())
    assert ("environment" in job) == bool(permissions)
    needs = job.get("needs", [])
    assert set([needs] if isinstance(needs, str) else needs) <= set(parsed(WORKFLOWS[workflow])["jobs"])


@pytest.mark.parametrize(("workflow", "name", "job"), JOBS)
def test_steps_can_be_run(workflow: str, name: str, job: dict[str, Any]) -> None:
    """A step uses an action at a major version, or runs targets that make knows and files that can be executed."""
    for step in job.get("steps", []):
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(release/)?v\d+", step["uses"])
            assert step["uses"].partition("@")[0] != "actions/checkout" or step["with"]["persist-credentials"] is False
            continue
        command = step["run"]
        assert "${{" not in command, "an expression in a command runs what somebody wrote elsewhere"
        assert all(makes(target) for target in targets(command)), command
        if command.startswith("."):
            assert os.access(ROOT / command, os.X_OK)


def test_make_knows_its_targets() -> None:
    """The question that the tests above ask make has two answers, and a command's targets are found."""
    assert makes("help") and not makes("no-such-target")
    assert targets("make book && echo make done; make A=1 -s lint\nmake test") == ["book", "lint", "test"]


def test_a_release_is_tried_on_every_python(tmp_path: pathlib.Path) -> None:
    """On those that run, also where a later one is missing or a version manager's stand-in fails; else on the given one."""
    for name, code in {"python3.11": 0, "python3.12": 127, "python3.13": 0}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\nexit {code}\n")
        (tmp_path / name).chmod(0o755)
    for tool in ("make", "sh", "uname", "tr", "id"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    said = subprocess.run(
        ["make", "--dry-run", "release"], cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True
    ).stdout
    assert "for python in python3.11 python3.13; do" in said


def test_workflows_do_what_they_are_for() -> None:
    """Each lane runs CI's own command; a newer JAX is tried weekly; what is published of the book is what was rendered."""
    steps = {(workflow, name): job.get("steps", []) for workflow, name, job in jobs()}
    assert [step["run"] for step in steps["tests", "lane"] if "run" in step] == [".ci/run"]
    assert "make test" in (ROOT / ".ci" / "run").read_text().splitlines()
    assert parsed(WORKFLOWS["newer"])[True]["schedule"][0]["cron"].split()[2:4] == ["*", "*"]
    assert any("newer" in targets(step.get("run", "")) for step in steps["newer", "newer"])
    assert [step["run"] for step in steps["rest", "rest"] if "run" in step] == ["make test-programs", "make test-full"]
    (upload,) = (step for step in steps["book", "render"] if "upload-pages-artifact" in step.get("uses", ""))
    assert f"render the book into {upload['with']['path']}," in MAKEFILE
    assert parsed(WORKFLOWS["release"])[True] == {"push": {"tags": ["v*"]}}
    assert set(parsed(WORKFLOWS["release"])["jobs"]["publish"]["needs"]) == {"tests", "build"}


def test_every_lane_has_its_job() -> None:
    """The Pythons of the matrix have each JAX of constraints.txt once, and no job runs the other lane a second time."""
    job = parsed(WORKFLOWS["tests"])["jobs"]["lane"]
    pythons = job["strategy"]["matrix"]["python"]
    assert [lanes.jax_of(ROOT, f"{python}.0") for python in pythons] == lanes.known(ROOT)
    assert job["container"]["image"] == "python:${{ matrix.python }}-bookworm" and job["env"] == {
        "OTHER_PYTHON": "",
        "SHARE": "",
    }


def images() -> dict[str, str]:
    """The Python that each file brings, by the file's name."""
    said = {path: (ROOT / path).read_text() for path in BRING_PYTHON}
    found = {path: re.findall(r"python(?:-version)?[:=] ?\"?(3\.\d+)", text) for path, text in said.items()}
    assert all(len(versions) == 1 for versions in found.values()), found
    return {path: version for path, (version,) in found.items()}


def test_what_brings_a_python_brings_the_newest_lane() -> None:
    """Containers, conda, Binder and the book take a Python that the tests' last job has."""
    newest = parsed(WORKFLOWS["tests"])["jobs"]["lane"]["strategy"]["matrix"]["python"][-1]
    assert images() == dict.fromkeys(BRING_PYTHON, newest)
    assert lanes.jax_of(ROOT, f"{newest}.0") == lanes.known(ROOT)[-1]


def test_the_tag_must_be_the_version() -> None:
    """The release's own step passes on the tag of this version, and on no other."""
    steps = [step for _, _, job in jobs() for step in job.get("steps", [])]
    (command,) = (step["run"] for step in steps if step.get("name") == "The tag is the version")
    codes = {
        tag: subprocess.run(["bash", "-ec", command], cwd=ROOT, env=os.environ | {"GITHUB_REF_NAME": tag}).returncode
        for tag in (f"v{PROJECT['version']}", "v9.9.9", PROJECT["version"])
    }
    assert list(codes.values()) == [0, 1, 1]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks(path: pathlib.Path) -> None:
    """Ids and labels are unique, and something must be filled in."""
    form = parsed(path)
    asked = [element for element in form["body"] if element["type"] in ASKS]
    assert form["name"] and form["description"] and any(element.get("validations", {}).get("required") for element in asked)
    for names in ([element["id"] for element in asked], [element["attributes"]["label"] for element in asked]):
        assert len(set(names)) == len(names)


def test_private_reports_have_one_address() -> None:
    """The forms, the policy and the code of conduct lead to the same private form, in the repository of pyproject.toml."""
    private = f"{PROJECT['urls']['Repository']}/security/advisories/new"
    (link,) = parsed(GITHUB / "ISSUE_TEMPLATE" / "config.yml")["contact_links"]
    assert link["url"] == private
    assert all(private in (ROOT / name).read_text() for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"))


@pytest.mark.parametrize(
    "path",
    [GITHUB / "PULL_REQUEST_TEMPLATE.md", ROOT / "SECURITY.md", *FORMS, GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    ids=lambda p: p.name,
)
def test_what_texts_name_is_there(path: pathlib.Path) -> None:
    """Files, folders and make targets that a form or a policy names exist."""
    text = path.read_text()
    named = re.findall(r"(?<![\w/.-])((?:tests|solutions|notebooks)/[\w/]*|[A-Z_]+\.(?:md|txt)|constraints\.txt)", text)
    assert [name for name in named if not (ROOT / name).exists() and not (GITHUB / name).exists()] == []
    made = re.findall(r"`make ([a-z-]+)", text)
    assert [word for word in made if not re.search(rf"^{word}:", MAKEFILE, re.MULTILINE)] == []


def test_devcontainer_sets_up_what_is_tested() -> None:
    """Its commands are targets of make, its ports those of the Makefile, its interpreter the one that make installs."""
    given = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert re.fullmatch(r"docker\.io/library/python:[\d.]+-\w+", given["image"])
    wanted = targets(given["postCreateCommand"])
    assert "bubblewrap" in wanted and all(makes(target) for target in wanted)
    assert set(map(int, given["portsAttributes"])) == set(given["forwardPorts"])
    assert re.search(r"^PORT \?= 8000$", MAKEFILE, re.MULTILINE) and 8000 in given["forwardPorts"]
    assert given["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"].endswith("}/.venv/bin/python")


def test_the_containerfile_copies_what_there_is() -> None:
    """Every file that it copies is there, its extras exist, and it installs under the pins."""
    lines = (ROOT / "grader" / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    copied = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert {"pyproject.toml", "constraints.txt", "src", "grader"} <= set(copied)
    assert [name for name in copied if not (ROOT / name).exists()] == []
    (install,) = (line for line in lines if line.startswith("RUN pip install"))
    assert "--constraint constraints.txt" in install and extras(install) <= set(PROJECT["optional-dependencies"])
    assert 'ENTRYPOINT ["shardlab-grader"]' in lines and "shardlab-grader" in PROJECT["scripts"]


def test_what_the_containerfile_copies_is_enough(tmp_path: pathlib.Path) -> None:
    """Of those files alone a wheel can be built, and its command finds the chapter that it is to release."""
    lines = (ROOT / "grader" / "Containerfile").read_text().splitlines()
    for name in (word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tmp_path)
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True)
    imports = "from shardlab_grader.cli import ROOT\nfrom shardlab_grader.releases.release import chapter\n"
    program = f"{imports}print(chapter('04', ROOT))"
    homes = [str(tmp_path / "src"), str(tmp_path / "grader"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(homes)}
    found = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True)
    assert pathlib.Path(found.stdout.strip()) == tmp_path / "solutions" / "04_four_matmul_cases.md"


def extras(command: str) -> set[str]:
    """The extras of the course that a command installs."""
    (found,) = re.findall(r"\.\[([\w,]+)\]", command)
    return set(found.split(","))


def test_binder_brings_python_and_postbuild_the_rest() -> None:
    """conda's own parser takes the lines; all that students need comes from pip under the pins, or is the lens."""
    specs = [MatchSpec(line, strict=True) for line in parsed(ROOT / "binder" / "environment.yml")["dependencies"]]
    assert [spec.name.normalized for spec in specs] == ["python", "pip"]
    install, copy = (ROOT / "binder" / "postBuild").read_text().splitlines()[-2:]
    assert "--constraint constraints.txt" in install and extras(install) == {"lab"}
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["lab"]]
    needed.remove(f"shardlens=={PROJECT['version']}")
    pins = (ROOT / "constraints.txt").read_text()
    assert [line for line in needed if f"\n{Requirement(line).name}==" not in pins] == []
    assert copy == "python -m shardlab_course.checking.work notebooks work"


def test_binders_postbuild_runs(tmp_path: pathlib.Path) -> None:
    """With the installing left out, it leaves a copy of each notebook in `work/`, and stops at the first failure."""
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text(f'#!/bin/bash\n[ "$2" = pip ] && exit "$PIP"\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    script = ROOT / "binder" / "postBuild"
    assert os.access(script, os.X_OK)
    environment = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    failed = subprocess.run([script], cwd=tmp_path, env=environment | {"PIP": "3"})
    assert failed.returncode == 3 and not (tmp_path / "work").exists()
    subprocess.run([script], cwd=tmp_path, env=environment | {"PIP": "0"}, check=True)
    copies, given = ({path.name for path in root.glob("*.ipynb")} for root in (tmp_path / "work", ROOT / "notebooks"))
    assert copies == given != set()
