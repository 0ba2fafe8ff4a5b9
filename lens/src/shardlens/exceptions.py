"""Where an exception came from, in lines that are the user's own, and which mesh axes there were. No JAX here."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import difflib
import functools
import itertools
import re
from collections.abc import Iterator
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from shardlens.errors import LensError
from shardlens.sources import Line, is_users, name_of_file

TEXT, WIDTH, SHORT, CALLERS = 1500, 100, 48, 3
NAMES, VALUE, PARTS = 4, 60, 8
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w*\s*=[^=])")
_INSIDE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_COLLECTIVES, _MANUAL, _MAPPED = "jax/_src/lax/parallel.py", "jax/_src/shard_map.py", "jax/_src/api.py"


@dataclasses.dataclass(frozen=True)
class _Place:
    line: Line
    function: str
    columns: tuple[int, int]
    """Bytes of the line, from the first that was being run to behind the last; both 0 where that is not known."""
    frame: FrameType | None = dataclasses.field(default=None, compare=False)

    def __str__(self) -> str:
        inside = f", in {self.function}" if self.function not in ("<module>", name_of_file(self.line.file)) else ""
        return f"line {self.line.number} of {name_of_file(self.line.file)}{inside}"


def raised_at(raised: BaseException, function: Any = None, ours: str = "") -> str:
    """The innermost line of the user's own that an exception came through, with carets below it; then what called it.

    Of what the marked text names, arrays are told by their types, and numbers, texts, lists and dicts by what they hold.
    Where a collective was given an axis that is not there, a last line names it and those that are; a name that is nearly
    one that there is gets it named. Printable characters and ends of lines, at most `TEXT`; nothing where no line is the
    user's, or where it cannot be found out.

    Args:
        function: what was called; where the exception came through no line of the user's, its first line is told.
        ours: a file that is not the user's either.
    Example:
        >>> import linecache
        >>> linecache.cache["<model>"] = (0, None, ["step = [1, 2][3]"], "<model>")
        >>> try:
        ...     exec(compile("step = [1, 2][3]", "<model>", "exec"))
        ... except IndexError as error:
        ...     print(raised_at(error))
        line 1 of model
            step = [1, 2][3]
                   ^^^^^^^^^
    """
    try:
        frames = [each for each in _frames(raised, set()) if each.tb_frame.f_code.co_filename != ours]
        told = _told(frames, function)
        text = "\n".join([*told, *_nearly(raised, frames)] if told else [])
        return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)[:TEXT]
    except Exception:  # an exception is an object of the user's: what it says of itself may raise
        return ""


@contextlib.contextmanager
def told_shortly(note: str, function: Any = None) -> Iterator[None]:
    """An exception that comes through gets a note, and a notebook shows the user's own line of it in place of a traceback.

    Args:
        note: what was being done.
        function: what was called, as for `raised_at`.
    """
    try:
        yield
    except LensError:  # it shows itself
        raise
    except Exception as error:
        # A note, and no error of ours around it: JAX's own type and message are what its documentation explains.
        error.add_note(note)
        with contextlib.suppress(AttributeError):  # a class of the user's that takes no attributes
            # IPython shows what this returns in place of a traceback; a partial, since exceptions are sent by pickle.
            error._render_traceback_ = functools.partial(_short, error, function)  # type: ignore[attr-defined]
        raise


def _short(raised: BaseException, function: Any) -> list[str]:
    said = f"{type(raised).__name__}: {raised}".splitlines()
    return [*raised_at(raised, function).splitlines(), *said, *getattr(raised, "__notes__", ())]


def _told(frames: list[TracebackType], function: Any) -> list[str]:
    places = _places(frames) or _defined(function)
    if not places:
        return []
    inner, *callers = reversed(places)
    more = len(callers) - CALLERS
    lines = [_cut(str(inner), WIDTH), *_marked(inner), *_held(inner, frames)]
    lines += [f"called in {_cut(str(each), WIDTH)}: {_cut(each.line.text, SHORT)}" for each in callers[:CALLERS]]
    lines += [f"... and {more} more calls"] * (more > 0)
    return [*lines, *_unknown_axes([each.tb_frame for each in frames])]


def _frames(raised: BaseException, seen: set[int]) -> Iterator[TracebackType]:
    """Outermost first; where a library raised in place of what it had caught, those of that follow, which lie deeper."""
    found, own, at = [], set(), raised.__traceback__
    while at is not None:
        found.append(at)
        own.add(at.tb_frame)
        at = at.tb_next
    yield from found
    seen.add(id(raised))
    caught = raised.__cause__ or raised.__context__
    if caught is not None and id(caught) not in seen and not (found and is_users(found[-1].tb_frame.f_code.co_filename)):
        yield from (each for each in _frames(caught, seen) if each.tb_frame not in own)


def _places(frames: list[TracebackType]) -> list[_Place]:
    places: list[_Place] = []
    for each in frames:
        line = Line(each.tb_frame.f_code.co_filename, each.tb_lineno)
        # Generated code, as that of a dataclass: there is nothing to show.
        if not is_users(line.file) or line.file.startswith("<") and not line.text:
            continue
        name = each.tb_frame.f_code.co_name
        if name in _INSIDE and places:
            name = places[-1].function
            if places[-1].line == line:
                places.pop()
        place = _Place(line, name, _columns(each), each.tb_frame)
        places += [place] * (places[-1:] != [place])
    return places


def _defined(function: Any) -> list[_Place]:
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or not is_users(code.co_filename):
        return []
    return [_Place(Line(code.co_filename, code.co_firstlineno), code.co_name, (0, 0))]


def _columns(at: TracebackType) -> tuple[int, int]:
    code = at.tb_frame.f_code
    first, last, start, end = next(itertools.islice(code.co_positions(), at.tb_lasti // 2, None))
    if first != at.tb_lineno or start is None or end is None:
        return 0, 0
    return start, end if last == first else len(Line(code.co_filename, first).whole.encode())


def _marked(place: _Place) -> list[str]:
    whole = place.line.whole
    if not whole:
        return []
    start, end = (len(whole.encode()[:n].decode(errors="replace")) for n in place.columns)
    from_ = len(whole) - len(whole.lstrip())
    # What was being run is to be seen, however far to the right it stands.
    from_ = max(from_, start - WIDTH // 2) if end - from_ > WIDTH else from_
    shown = _cut(whole[from_:], WIDTH)
    carets = " " * (start - from_) + "^" * (min(end - from_, len(shown)) - (start - from_))
    return [f"    {shown}", f"    {carets}"] if end > start else [f"    {shown}"]


def _held(place: _Place, frames: list[TracebackType]) -> list[str]:
    """What the names in the marked text stand for, as far as it can be said in a few words."""
    if place.frame is None or place.columns[1] <= place.columns[0]:
        return []
    marked = place.line.whole.encode()[slice(*place.columns)].decode(errors="replace")
    here = place.frame.f_locals
    names = [name for name in dict.fromkeys(_NAME.findall(_QUOTED.sub("", marked))) if name in here]
    told = [f"{name} = {words}" for name in names if (words := _words(here[name]))]
    around = itertools.takewhile(lambda frame: frame is not place.frame, (each.tb_frame for each in frames))
    where = "one device has" if any(_of(frame, _MANUAL) for frame in around) else "with"
    return [_cut(f"{where} {', '.join(told[:NAMES])}", WIDTH + VALUE)] if told else []


def _words(value: Any) -> str:
    """A value in a few words, by nothing of the user's own; empty where it is no value to look at."""
    kind = type(value)
    if kind in (bool, int, float, complex, str, type(None)):
        return _cut(repr(value), VALUE)
    if kind in (list, tuple):
        parts = _cut(", ".join(_words(part) or "..." for part in value[:PARTS]), VALUE)
        return (f"[{parts}]" if kind is list else f"({parts})") + f" of {len(value)}" * (len(value) > 1)
    if kind is dict:
        pairs = [(_words(key) or "...", _words(part) or "...") for key, part in itertools.islice(value.items(), PARTS)]
        whole = ", ".join(f"{key}: {part}" for key, part in pairs)
        return f"{{{whole}}}" if len(whole) <= VALUE else f"dict with {_cut(', '.join(key for key, _ in pairs), VALUE)}"
    if kind.__module__.partition(".")[0] not in ("jax", "jaxlib", "numpy"):
        return ""
    if kind.__name__ in ("Mesh", "AbstractMesh"):
        return f"({', '.join(f'{name}={size}' for name, size in value.shape.items())})"
    if kind.__name__ in ("P", "PartitionSpec"):
        return _cut(str(value), VALUE)
    # JAX's types say more than shape and dtype: shardings, and over which axes it varies.
    aval = getattr(value, "aval", None)
    if aval is not None:
        return f"{'traced ' * kind.__name__.endswith('Tracer')}{aval}"
    return f"{value.dtype}[{','.join(map(str, value.shape))}]" if isinstance(getattr(value, "shape", None), tuple) else ""


def _nearly(raised: BaseException, frames: list[TracebackType]) -> list[str]:
    """Of a module's attribute, or a name, that is not there, the nearest that is."""
    if isinstance(raised, AttributeError) and isinstance(raised.obj, ModuleType) and raised.name:
        asked, there, of = raised.name, dir(raised.obj), f"{raised.obj.__name__}."
    elif isinstance(raised, NameError) and raised.name:
        frame = frames[-1].tb_frame
        asked, there, of = raised.name, [*frame.f_locals, *frame.f_globals, *vars(builtins)], ""
    else:
        return []
    plain = {each.replace("_", "").lower(): each for each in there if not each.startswith("_")}
    near = difflib.get_close_matches(asked.replace("_", "").lower(), plain, n=1, cutoff=0.75)
    return [f"the name nearest to {of}{asked} is {of}{plain[near[0]]}"] if near else []


def _cut(text: str, most: int) -> str:
    text = text.replace("\t", " ")
    return text if len(text) <= most else text[: most - 3] + "..."


def _unknown_axes(frames: list[FrameType]) -> list[str]:
    """By the arguments of JAX's own functions, since messages name no axes, and not all the one that is unknown."""
    last = max((n for n, frame in enumerate(frames) if is_users(frame.f_code.co_filename)), default=-1)
    asked = next((frame for frame in frames[last + 1 :] if _of(frame, _COLLECTIVES) and "axis_name" in frame.f_locals), None)
    if asked is None:
        return []
    manual = [frame.f_locals["axis_names"] for frame in frames if _of(frame, _MANUAL) and "axis_names" in frame.f_locals]
    mapped = [frame.f_locals.get("axis_name") for frame in frames if _of(frame, _MAPPED)]
    bound = {name for names in manual for name in names} | {name for name in mapped if isinstance(name, str)}
    names = asked.f_locals["axis_name"]
    unknown = [name for name in (names if isinstance(names, tuple | list) else [names]) if name not in bound]
    if not unknown or not all(isinstance(name, str) for name in unknown):
        return []
    there = f"the axes here are {', '.join(map(repr, sorted(bound)))}" if bound else "outside jax.shard_map there is none"
    return [f"{asked.f_code.co_name}: there is no axis {', '.join(map(repr, unknown))}; {there}"]


def _of(frame: FrameType, file: str) -> bool:
    return frame.f_code.co_filename.replace("\\", "/").endswith(file)
