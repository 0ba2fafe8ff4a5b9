"""The lens's readers of HLO against a second reading of XLA's serialised module: every record of a page's TPU program."""

import base64
import collections
import json
import zlib
from pathlib import Path

import pytest

import test_arithmetic
from programs import reading
from shardlab import records

RECORDS = {path.stem: path for path in sorted(records.FOLDER.glob("*.json"))}


def of_record(path: Path) -> str:
    """The HLO text of a TPU record."""
    return zlib.decompress(base64.b85decode(json.loads(path.read_text())["hlo"])).decode()


@pytest.mark.parametrize("name", RECORDS)
def test_record(name: str) -> None:
    """In each record of a TPU program, too."""
    reading.agree(of_record(RECORDS[name]))
    test_arithmetic.agree(of_record(RECORDS[name]))


def test_a_program_of_many_gathers() -> None:
    """Where `shard_map` gives all collectives one channel, none is taken for another one: the course's own record."""
    found = reading.second_reading(of_record(RECORDS["11-layers-again"]), 8)
    kinds = collections.Counter(seen.kind for seen in found.runs)
    assert kinds == {"all-gather": 8, "reduce-scatter": 4}
    assert sum(seen.out for seen in found.runs) == 18_874_368


ASYNC = """HloModule m, is_scheduled=true, num_partitions=8

%started (p: f32[8]) -> f32[64] {
  %p = f32[8]{0} parameter(0)
  ROOT %gather = f32[64]{0} all-gather(%p), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, dimensions={0}
}

ENTRY %main (x: f32[8]) -> f32[64] {
  %x = f32[8]{0} parameter(0)
  %start = ((f32[8]{0}), f32[64]{0}, u32[]) async-start(%x), calls=%started
  %y = f32[8]{0} add(%x, %x)
  ROOT %done = f32[64]{0} async-done(%start), calls=%started
}
"""


def test_started_in_a_computation_of_its_own() -> None:
    """XLA may wrap any operation into a start and a done: one collective, begun by the start."""
    mine, other = reading.agree(ASYNC)
    assert [(c.name, c.executions) for c in mine] == [("gather", 1)] and [seen.site for seen in other.runs] == ["start"]
