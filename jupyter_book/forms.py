"""Predictions as small forms in the book: what can be chosen, what is right, and the cause of each wrong choice.

A page can run no Python, so the judge is asked beforehand. A cause is a predicate over the whole answer; it is run on an
answer that is filled in only as far as it looks (`Asked`), for every choice there, which gives a decision tree over the
entries that it looks at. `_static/predict.js` walks these trees, so a form tells the cause that the notebook would tell.
"""

from __future__ import annotations

import functools
import html
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from shardlab_course.chapters import QUESTIONS
from shardlab_judge.domain import Domain
from shardlab_judge.items.value import ValueItem, Why, is_like, matches
from shardlab_judge.question import Question

ENOUGH = 4
"""So many numbers to choose from are enough; where the judge names fewer, others are put beside them."""
MOST = 24
"""Lists in every order, up to so many."""
TAPPED = 6
"""Up to so many choices stand side by side; more are in a box."""
CODE = re.compile(r"`([^`]+)`")
ALONE = "alone"
Texts = Iterable[tuple[str, str]]
"""Of each choice its value in the form, and what is shown."""


class Need(BaseException):
    """A predicate looks at an entry that is not filled in yet; no `Exception`, since predicates that raise one are false."""


class Asked(dict[str, Any]):
    """An answer that is filled in as far as it is looked at."""

    def __init__(self, keys: tuple[str, ...], filled: Mapping[str, Any]) -> None:
        super().__init__(dict.fromkeys(keys))
        self.filled = filled

    def __getitem__(self, key: str) -> Any:
        if key in self and key not in self.filled:
            raise Need(key)
        return self.filled[key]

    def get(self, key: str, default: Any = None) -> Any:
        """As a dict's."""
        return self[key] if key in self else default

    def values(self) -> Iterator[Any]:  # type: ignore[override]
        """One by one, so that what stops early looks at no more."""
        return (self[key] for key in self)

    def items(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]
        """One by one, too."""
        return ((key, self[key]) for key in self)

    def __eq__(self, other: object) -> bool:
        return {key: self[key] for key in self} == other


class Probe:
    """Stands for an answer while a predicate is run, and notes what it is compared with."""

    def __init__(self, seen: list[Any]) -> None:
        self.seen = seen

    def __eq__(self, other: object) -> bool:
        self.seen += [] if isinstance(other, Probe) else [other]
        return False

    def __gt__(self, other: float) -> bool:
        self.seen += [2 * other]
        return False

    def __contains__(self, other: object) -> bool:
        self.seen += [other, [other]]
        return False

    def __getitem__(self, key: object) -> Probe:
        return self

    def __iter__(self) -> Iterator[Probe]:
        return iter((self,))  # else Python asks for the parts 0, 1, 2 and so on, without end

    def get(self, key: object, default: object = None) -> Probe:
        """As a dict's."""
        return self

    def values(self) -> list[Probe]:
        """As a dict's."""
        return [self]

    __hash__ = None  # type: ignore[assignment]


def form(question: Question) -> str:
    """The form of a question's values as HTML, or nothing where it asks for none."""
    items = [item for item in question.items if isinstance(item, ValueItem)]
    if not items:
        return ""
    name = question.id.replace(".", "-")
    asked = "Predict" if all(item.predicted for item in items) else "Choose"
    known = [facts(items, item) for item in items]
    fields = "".join(_fieldset(name, item, each) for item, each in zip(items, known, strict=True))
    data = json.dumps({"question": question.id, "items": known}, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<form class="predict" id="predict-{name}" aria-label="{asked}: exercise {question.id}" autocomplete="off">\n'
        f'<p class="predict-title">{asked} it here: {question.id}</p>\n{fields}'
        f'<p><button type="submit">Compare</button></p>\n<div class="predict-said" role="status"></div>\n'
        f'<script type="application/json">{data}</script>\n'
        f"<noscript><p>This form needs JavaScript; the notebook asks the same.</p></noscript></form>\n"
    )


def facts(items: Iterable[ValueItem], item: ValueItem) -> dict[str, Any]:
    """All that the script needs of an item.

    `entries` are what is chosen, one named "" where the answer is no dict: key, choices as `[label, value]`, and which of
    them are right. `alone` is the texts that stand for the whole answer where it may be a dict, with the number of their
    cause. `trees` has a decision tree for each cause: a truth value, or `[entry, {choice: tree}, tree of all others]`.
    """
    choices = {key: choices_of(items, item, key, domain) for key, domain in _entries(item).items()}
    whole = "" in choices
    right = {key: [n for n, value in enumerate(values) if _is_right(item, key, value)] for key, values in choices.items()}
    entries = [
        {"key": key, "choices": [[label(value), value] for value in values], "right": right[key]}
        for key, values in choices.items()
    ]
    known = [m for m in item.misconceptions if m.like is not None]
    trees = [tree(item, m.like, choices, {}) if not whole else _flat(item, m.like, choices[""]) for m in known]
    words = dict.fromkeys(word for word in (item.key, *item.also) if isinstance(word, str))
    alone = {word: _first(item, known, word) for word in words} if item.domain.entries else {}
    return {
        "name": item.name,
        "predicted": item.predicted,
        "parts": isinstance(item.key, Mapping),
        "entries": entries,
        "alone": alone,
        "key": item.key if isinstance(item.key, str) else None,
        "shown": item.right if isinstance(item, Why) else _shown(item.key),
        "causes": [[m.id, m.cause] for m in known],
        "trees": trees,
    }


def _shown(key: Any) -> Any:
    if isinstance(key, Mapping):
        return {name: _shown(part) for name, part in key.items()}
    return label(sorted(key) if isinstance(key, frozenset) else key)


def _entries(item: ValueItem) -> dict[str, Domain]:
    return dict(item.domain.entries) if item.domain.entries else {"": item.domain}


def _is_right(item: ValueItem, key: str, value: Any) -> bool:
    if isinstance(item.key, Mapping):
        return matches(item.key[key], value, item.rtol)
    return not key and matches(item.key, value, item.rtol)


def _first(item: ValueItem, known: list[Any], value: Any) -> int:
    return next((n for n, m in enumerate(known) if is_like(m.like, value, item.rtol)), -1)


def tree(item: ValueItem, like: Any, choices: Mapping[str, list[Any]], filled: Mapping[str, Any]) -> Any:
    """When a known wrong answer is recognised, by what it looks at."""
    try:
        return is_like(like, Asked(tuple(choices), filled), item.rtol)
    except Need as need:
        key = str(need.args[0])
    below = [tree(item, like, choices, {**filled, key: value}) for value in choices[key]]
    return _branch(key, below)


def _flat(item: ValueItem, like: Any, values: list[Any]) -> Any:
    return _branch("", [is_like(like, value, item.rtol) for value in values])


def _branch(key: str, below: list[Any]) -> Any:
    texts = [json.dumps(each) for each in below]
    common = max(texts, key=texts.count)
    others = {str(n): below[n] for n, text in enumerate(texts) if text != common}
    return [key, others, json.loads(common)] if others else json.loads(common)


def choices_of(items: Iterable[ValueItem], item: ValueItem, key: str, domain: Domain) -> list[Any]:
    """What can be chosen for an entry: what the domain lists, else what right and known wrong answers have.

    Args:
        items: of the question; those that are answered alike have the same choices.
        item: one of them.
        key: the entry.
        domain: what may be answered there.
    """
    if domain.truth:
        return [True, False]
    alike = [other for other in items if other.domain == item.domain]
    found = [value for other in alike for value in _named(other, key) if domain.reading(value).value is not None]
    values = [*domain.words, *found]
    if domain.listed is not None:
        values += _lists(item, domain)
    values = _distinct([domain.reading(value).value for value in values])
    if domain.number:
        values = _numbers(values, item, key)
    return sorted(values, key=lambda value: _place(value, domain))


def _lists(item: ValueItem, domain: Domain) -> list[Any]:
    assert domain.listed is not None
    words = domain.listed.words
    if isinstance(item.key, list) and len(item.key) == len(words) and math.factorial(len(words)) <= MOST:
        return list(map(list, itertools.permutations(words)))
    return [[], *([word] for word in words)] if words else []


def _named(item: ValueItem, key: str) -> list[Any]:
    """What the right answer and the known wrong ones say there, and in the entries that are answered alike."""
    seen: list[Any] = []
    for source in (item.key, *item.also, *(m.like for m in item.misconceptions if m.like is not None)):
        if isinstance(source, Mapping):
            domains = _entries(item)
            seen += [value for other, value in source.items() if domains.get(other) == domains.get(key)]
        elif callable(source):
            _probed(source, seen)
            seen += _constants(source, whole=not key)
        else:
            seen.append(source)
    plain = [sorted(value) if isinstance(value, frozenset | set) else value for value in seen]
    return [list(value) if isinstance(value, tuple) else value for value in plain]


def _probed(like: Callable[[Any], Any], seen: list[Any]) -> None:
    try:
        like(Probe(seen))
    except Exception:  # it does more with an answer than compare it: what it has compared by then is noted
        return


def _constants(like: Callable[[Any], Any], whole: bool) -> list[float]:
    """The numbers that stand in a predicate, for those that do more with an answer than compare it.

    Of an answer with parts small whole numbers may be places in a list; small fractions are tolerances.
    """
    code = getattr(like, "__code__", None)
    around = [cell.cell_contents for cell in getattr(like, "__closure__", None) or ()]
    numbers = [value for value in (*code.co_consts, *around) if type(value) in (int, float)] if code else []
    least = 0 if whole else 10
    return [value for value in numbers if value >= (least if isinstance(value, int) else 0.05)]


def _numbers(values: list[Any], item: ValueItem, key: str) -> list[Any]:
    """With the half and the double of the right one, where there are few."""
    right = item.key[key] if isinstance(item.key, Mapping) else item.key
    if not isinstance(right, int | float) or isinstance(right, bool):
        return values
    for factor in (2, 1 / 2, 4, 8):
        other = right * factor or factor
        if len(values) < ENOUGH and isinstance(right, float) | (other == int(other)):
            values = _distinct([*values, int(other) if isinstance(right, int) else other])
    return [value for value in values if not _is_doubled(value, values)]


def _is_doubled(value: Any, values: list[Any]) -> bool:
    """Whether a rounder number for the same stands beside it, as 0.14 beside 1/7."""
    near = [v for v in values if isinstance(v, int | float) and v != value and math.isclose(v, value, rel_tol=0.03)]
    return isinstance(value, float) and any(len(repr(v)) > len(repr(value)) for v in near)


def _distinct(values: list[Any]) -> list[Any]:
    """Each once; 1 and 1.0 are one number."""
    return list({json.dumps(float(v) if isinstance(v, int) and not isinstance(v, bool) else v): v for v in values}.values())


def _place(value: Any, domain: Domain) -> tuple[Any, ...]:
    if isinstance(value, str):
        return (0, domain.words.index(value) if value in domain.words else len(domain.words), value)
    return (1, len(value), str(value)) if isinstance(value, list) else (2, value, "")


def label(value: Any) -> str:
    """A choice as it is shown."""
    match value:
        case bool():
            return str(value)
        case float():
            return f"{value:.4g}"
        case int():
            return f"{value:,}"
        case []:
            return "none"
        case list() if all(isinstance(part, str) for part in value):
            return ", ".join(value)
        case list():
            return f"[{', '.join(f'{part:g}' for part in value)}]"
    return str(value)


def _fieldset(name: str, item: ValueItem, known: Mapping[str, Any]) -> str:
    rows = []
    for n, entry in enumerate(known["entries"]):
        words = list(known["alone"]) if known["alone"] and n == 0 else []
        texts = [(f"{ALONE}:{word}", word) for word in words]
        texts += [(str(i), text) for i, (text, _) in enumerate(entry["choices"]) if text not in words]
        told = item.mechanisms if isinstance(item, Why) else {}
        made = _tapped if len(texts) <= TAPPED else _selected
        said = f"<code>{html.escape(entry['key'] or item.name)}</code>"
        rows.append(made(f"predict-{name}-{item.name}-{n}", f'data-item="{item.name}" data-entry="{n}"', said, texts, told))
    legend = f"<legend><code>{item.name}</code></legend>" if known["entries"][0]["key"] else ""
    return f'<fieldset>{legend}<div class="predict-rows">{"".join(rows)}</div></fieldset>\n'


def _tapped(id: str, data: str, said: str, texts: Texts, told: Mapping[str, str]) -> str:
    """Choices side by side, each tapped where it is read; with what it stands for, below each other."""
    shown = "".join(
        f'<label><input type="radio" name="{id}" value="{html.escape(at)}"><span>{_meant(text, told)}</span></label>'
        for at, text in texts
    )
    looks = "choices told" if told else "choices"
    return f'<span id="{id}">{said}</span><div class="{looks}" role="radiogroup" aria-labelledby="{id}" {data}>{shown}</div>'


def _meant(text: str, told: Mapping[str, str]) -> str:
    """A choice; if it is a letter, with the sentence that it stands for."""
    return CODE.sub(r"<code>\1</code>", html.escape(f"{text}: {told[text]}" if text in told else text))


def _selected(id: str, data: str, said: str, texts: Texts, told: Mapping[str, str]) -> str:
    """Many choices in a box that opens."""
    options = "".join(f'<option value="{html.escape(at)}">{_meant(text, told)}</option>' for at, text in texts)
    return f'<label for="{id}">{said}</label><select id="{id}" {data}><option value="">…</option>{options}</select>'


@functools.cache
def forms() -> Mapping[str, str]:
    """The forms of all questions that have one."""
    return {id: text for id, question in QUESTIONS.items() if (text := form(question))}
