"""What a page would ask for from elsewhere, or run, when a browser opens it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

RUNS = {"script", "iframe", "object", "embed", "frame", "applet", "portal"}
CHANGES = {"base", "form", "link", "input", "button", "textarea"}
ASKS = {"src", "srcset", "data", "poster", "background", "action", "formaction", "xlink:href", "ping", "manifest"}
FOREIGN = re.compile(r"@import|url\(\s*['\"]?\s*(?:[a-z]+:)?//", re.IGNORECASE)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
"""With it a browser runs no script and asks for nothing, whatever else stands in the page."""


class Reader(HTMLParser):
    """Collects what a browser would run or fetch; links that a person follows are none of it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._style = tag == "style"
        if tag in RUNS | CHANGES or (tag == "meta" and given.get("http-equiv", "").lower() == "refresh"):
            self.found.append(f"<{tag} {given}>")
        for name, value in given.items():
            plain = re.sub(r"[\s\0]", "", value).lower()
            if name.startswith("on") or plain.startswith(("javascript:", "vbscript:")):
                self.found.append(f"{name}={value!r} of <{tag}>")
            if name in ASKS and not plain.startswith(("data:image/", "#")):
                self.found.append(f"{name}={value!r} of <{tag}>")
            if name == "href" and tag not in ("a", "area") and not plain.startswith("#"):
                self.found.append(f"{name}={value!r} of <{tag}>")
            if name == "style" and FOREIGN.search(value):
                self.found.append(f"{name}={value!r} of <{tag}>")

    def handle_data(self, data: str) -> None:
        if self._style and (match := FOREIGN.search(data)):
            self.found.append(f"style: {data[match.start() : match.start() + 80]}")

    def handle_endtag(self, tag: str) -> None:
        self._style = self._style and tag != "style"


def dangers(page: str) -> list[str]:
    """Everything in a page that runs, or that is fetched from elsewhere."""
    reader = Reader()
    reader.feed(page)
    return reader.found


def policy(page: str) -> bool:
    """Whether the page says, before anything else could act, that nothing is run or fetched."""
    head = page.partition("</head>")[0]
    return POLICY in head and not dangers(head.partition(POLICY)[0])
