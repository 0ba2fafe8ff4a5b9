"""All readers of HLO against a second reading of XLA's serialised module: every stored text."""

import pytest

import hlo_texts
from programs import reading

STORED = {path.stem: path for path in sorted(hlo_texts.FOLDER.glob("*.txt"))}


@pytest.mark.parametrize("name", STORED)
def test_stored_text(name: str) -> None:
    """In each stored text all readers find the collectives that the second reader finds."""
    reading.agree(STORED[name].read_text())


def test_each_reader_is_looked_at() -> None:
    """A collective that is left out, or counted twice, is found out."""
    text = STORED["v5e_overlapped"].read_text()
    with pytest.raises(AssertionError):
        reading.agree(text.replace('chain_id="0"', 'chain_id="1"', 1))
