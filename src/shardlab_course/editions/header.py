"""The generated lines of a chapter: its badges, its first cell, and the head of each exercise."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import pathlib
import re
import tomllib
from collections.abc import Mapping, Sequence

from shardlab.errors import ShardlabError
from shardlab_course.outline import stars
from shardlab_judge.items.value import Why
from shardlab_judge.question import LETTERS, Question

MARK = re.compile(r"^<!-- (?P<name>badges|first cell|exercise|why) ?(?P<what>[\w. -]*?) ?-->[ \t]*$", re.MULTILINE)
# The last of a package's lines is its newest version.
PIN = re.compile(r"^([\w.-]+)==([\w.]+)", re.MULTILINE)
# A chapter's own line that installs one package.
INSTALLS = re.compile(r"(?<=%pip install -q )[\w.-]+$", re.MULTILINE)
GITHUB = "https://github.com/"
UNSET = "https://repository.invalid/shardlab"
"""Until `make address` sets it: nobody can own this host (RFC 2606), and publish there what a first cell would install."""
# `%pip` fills in {tpu} and {wheel}: a machine with the TPU's compiler gets the one that fits this JAX, another gets none.
FIRST_CELL = """\
# Where the course is missing (Colab, Kaggle): installs it, with the JAX that it is made for on this Python@FROM
# That took 8 to 16 seconds on idle copies of their images; Kaggle's CPU image asks for one restart after it.
try:
    import shardlab as sl
except ImportError:
@INSTALL @PINS
    assert find_spec("shardlab"), "No network? Kaggle: switch Internet on in the settings."
    import shardlab as sl

sl.setup(8)"""
OURS = 50
"""From this number on chapters are an instructor's own."""
TOOLS = (
    ("sl.hint()", "the next hint of the exercise that you checked last; `sl.hint(4.2)` for another one", 0),
    ("sl.example()", "a smaller program about the mistake that the last check named", 0),
    ("sl.explain()", "why the solution works, once the exercise is passed", 0),
    ("sl.viva()", "a few questions about your own program, once the exercise is passed; no points", 0),
    ("sl.diagnose(error)", "what an error or a warning of JAX means, and how to mend it; paste its text in quotes", 0),
    ("sl.why(f, x)", "which of your lines makes a program communicate, and what would be cheaper", 3),
    ("sl.progress()", "what you have done, and what comes next; `sl.progress(4)` for chapter 4", 0),
)
"""What helps, in a sentence, and the first chapter whose box has it."""
FROM_TAG = (
    ".",
    """\
    from importlib.util import find_spec
    tpu, at = "[tpu]" if find_spec("libtpu") else "", "git+@ADDRESS@v@VERSION"
    %pip install -qU "shardlens @ {at}#subdirectory=lens" "shardlab{tpu} @ {at}\"""",
)
FROM_WHEEL = (
    """,
# from the files shardlab-....whl and shardlens-....whl that came with this notebook. Put both beside the notebook.""",
    """\
    from glob import glob
    from importlib.util import find_spec
    wheels = sorted(glob("*.whl") + glob("/kaggle/input/*/*.whl"))
    lens, wheel = ([path for path in wheels if name in path][-1:] for name in ("shardlens-", "shardlab-"))
    assert lens and wheel, "Put shardlab-....whl and shardlens-....whl beside this notebook, and run this cell again."
    lens, wheel = lens[0], wheel[0] + ("[tpu]" if find_spec("libtpu") else "")
    %pip install -qU "{lens}" "{wheel}\"""",
)


@dataclasses.dataclass(frozen=True)
class Syllabus:
    """What every chapter is generated from besides its own source.

    Questions by id, the repository's address, packages' newest pinned versions by name, and the course's own version.
    """

    questions: Mapping[str, Question]
    address: str
    pins: Mapping[str, str] = dataclasses.field(default_factory=dict)
    version: str = "0"


def syllabus(root: pathlib.Path) -> Syllabus:
    """The declared questions, the address in `pyproject.toml`, and the versions in `constraints.txt`.

    Raises:
        ShardlabError: `root` has no `pyproject.toml` with a `[project.urls]` entry.
    """
    path = root / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"] if path.exists() else {}
    urls = project.get("urls", {})
    if not urls:
        mend = "run this at the root of the repository, where pyproject.toml names one address under [project.urls]."
        raise ShardlabError("no-course-here", "the address of the course is not known.", where=str(path), mend=mend)
    from shardlab_course.chapters import QUESTIONS

    constraints = root / "constraints.txt"
    pins = dict(PIN.findall(constraints.read_text(encoding="utf-8"))) if constraints.exists() else {}
    return Syllabus(QUESTIONS, str(next(iter(urls.values()))).rstrip("/"), pins, project.get("version", "0"))


def installed() -> Syllabus:
    """The same of what is installed, for a chapter that lies in no repository: address and versions of the packages here."""
    from shardlab_course.chapters import QUESTIONS

    ours = importlib.metadata.metadata("shardlab")
    addresses = [url.partition(", ")[2] for url in ours.get_all("Project-URL") or ()]
    pins = {one.name: one.version for one in importlib.metadata.distributions() if one.name}
    return Syllabus(QUESTIONS, addresses[0].rstrip("/"), pins, ours["Version"])


def expand(text: str, chapter: str, given: Syllabus, where: str) -> str:
    """A chapter's text with its `<!-- ... -->` lines replaced by what they stand for."""

    def replacement(match: re.Match[str]) -> str:
        match match["name"]:
            case "badges":
                return badges(chapter, given.address)
            case "first cell":
                return f"```{{code-cell}} ipython3\n{first_cell(match['what'].split(), given)}\n```"
        head = why if match["name"] == "why" else exercise
        return head(known(match["what"], given.questions, f"{where}: {match[0]}"))

    number = int(chapter[:2]) if chapter[:2].isdigit() else OURS
    whole = text if number >= OURS else f"{text.rstrip()}\n\n+++\n\n{tools(number)}\n"
    return INSTALLS.sub(lambda match: _bounded(match[0], given), MARK.sub(replacement, whole))


def tools(chapter: int) -> str:
    """A chapter's last box: the calls that help, those that the chapters so far have introduced."""
    listed = [f"- `{call}`: {said}" for call, said, first in TOOLS if first <= chapter]
    return "\n".join([":::{admonition} When you are stuck, and when you are done", ":class: tip", "", *listed, ":::"])


def first_cell(packages: Sequence[str], given: Syllabus) -> str:
    """The cell that gets the course and 8 devices anywhere, and more `packages` where the chapter's source names them."""
    pins = [_bounded(name, given) for name in ("jax", *packages)]
    said, install = FROM_WHEEL if given.address == UNSET else FROM_TAG
    cell = FIRST_CELL.replace("@FROM", said).replace("@INSTALL", install).replace("@PINS", " ".join(pins))
    return cell.replace("@ADDRESS", given.address).replace("@VERSION", given.version)


def _bounded(name: str, given: Syllabus) -> str:
    """What `%pip` is asked for: of a pinned package the newest version up to the pin, which is a Python's own pin."""
    return f'"{name}<={given.pins[name]}"' if name in given.pins else name


def known(question: str, questions: Mapping[str, Question], where: str) -> Question:
    """The declared question.

    Raises:
        ShardlabError: it is not declared.
    """
    if question not in questions:
        mend = f"declare it in a folder exNN of its chapter, or name one of: {', '.join(questions)}."
        raise ShardlabError("unknown-question", f"question '{question}' is not declared.", where=where, mend=mend)
    return questions[question]


def badges(chapter: str, address: str) -> str:
    """The line that opens the chapter in Colab or Kaggle; empty when the address is not on GitHub, which they read from."""
    if not address.startswith(GITHUB):
        return ""
    notebook = f"{address}/blob/main/notebooks/{chapter}.ipynb"
    colab = f"https://colab.research.google.com/github/{notebook.removeprefix(GITHUB)}"
    kaggle = f"https://www.kaggle.com/kernels/welcome?src={notebook}"
    images = (
        "https://colab.research.google.com/assets/colab-badge.svg",
        "https://kaggle.com/static/images/open-in-kaggle.svg",
    )
    return f"[![Open in Colab]({images[0]})]({colab}) [![Open in Kaggle]({images[1]})]({kaggle})"


def exercise(question: Question) -> str:
    """The heading of an exercise and one line: how hard it is, minutes, what is checked, and how to get a hint."""
    letters = dict.fromkeys(letter for item in question.items for letter in item.points)
    checked = f"checked: {', '.join(LETTERS.get(letter, letter) for letter in letters)}"
    facts = [*["optional"] * question.optional, stars(question.difficulty), f"{question.minutes} minutes", checked]
    facts += ["observed in running processes"] * question.observed + [f"stuck? `sl.hint({question.typed})`"]
    return f"## Exercise {question.id}: {question.title}\n\n{' · '.join(facts)}"


def why(question: Question) -> str:
    """The mechanisms among which a prediction asks, with their letters."""
    (item,) = (item for item in question.items if isinstance(item, Why))
    listed = "\n".join(f'- `"{letter}"`: {said}' for letter, said in item.mechanisms.items())
    return f"And `why`: {item.asked} Choose one.\n\n{listed}"
