"""Which exercise trains what each message of the lens's table is about."""

from __future__ import annotations

from shardlab_course.clinic import cases, old

_ROWS = {
    "0.1": "devices-too-late no-such-platform accelerator-unused default-device no-such-name not-installed",
    "0.4": "slow-compilation captured-constants foreign-function-missing compiler-failed compiler-aborted dtype-truncated",
    "1.1": "axis-types-of-another-kind axis-types-count mesh-names-count mesh-name-none mesh-shape-of-another-kind"
    " not-a-mesh drawn-in-two-dimensions put-on-no-sharding sharding-of-another-kind device-and-sharding gone-attribute",
    "1.3": "two-meshes output-not-on-mesh axis-twice",
    "1.4": "specs-too-long pmapped dimension-not-one",
    "1.5": "shards-do-not-fit packed-across-devices checkpoint-of-other-devices",
    "2.4": "device-mesh-size granules devices-not-a-block",
    "3.1": "tracer-asked-where put-while-traced abstract-mesh-has-no-devices abstract-mesh-lowered abstract-mesh-size",
    "3.3": "whole-on-one-device",
    "3.7": "argument-lies-elsewhere compiled-for-other-types keyword-with-in-shardings count-of-shardings"
    " jit-device-and-shardings layouts-differ layout-does-not-fit layout-without-format layout-of-another-kind"
    " exported-for-other-devices exported-for-other-platform exported-for-other-types no-such-argument static-not-hashable",
    "4.4": "untiled-gather shapes-do-not-fit",
    "6.2": "broadcast-specs-differ ambiguous-index slice-does-not-divide update-specs-differ operands-specs-differ"
    " needs-a-whole-dimension ambiguous-reshape out-sharding-required counted-otherwise sharding-length",
    "6.3": "unreduced-axis-unknown unreduced-needs-explicit unreduced-not-a-set unreduced-overlaps spec-taken-apart"
    " unreduced-operation",
    "6.5": "reshard-on-auto unconstrained-on-explicit",
    "6.6": "set-mesh-inside get-mesh-inside too-large-a-mesh out-sharding-missing",
    "7.1": "outside-of-shard-map axis-named-otherwise called-not-given put-inside smap-axes axis-of-an-array-sum",
    "7.2": "axis-of-no-specs specs-none specs-of-another-kind count-of-specs other-arguments",
    "7.3": "old-shard-map sums-copies does-not-vary cast-unknown cast-of-what-varies axis-names-not-a-set",
    "7.7": "constraint-inside-shard-map shard-map-in-shard-map manual-to-auto verifier-errors other-mesh-of-input"
    " closed-over-explicit unreduced-in-specs callback-partly-manual callback-sharding callback-raised callback-vmapped"
    " callback-differentiated ordered-on-many-devices custom-partitioning-rule",
    "8.1": "not-a-permutation",
    "8.2": "scattered-unevenly",
    "8.6": "groups-do-not-cover groups-over-two-axes groups-under-vmap",
    "8.9": "varying-branches varying-operands",
    "9.5": "not-a-key",
    "10.2": "cotangent-varies",
    "10.1": "gradient-of-many gradient-of-integers gradient-of-a-while-loop",
    "10.7": "spmd-axis-name-in-specs spmd-axis-name-and-explicit vmapped-shardings-differ wrong-mapped-axis-size"
    " wrong-mapped-axes vmapped-output-kept",
    "11.5": "memory-kind-unknown memories-differ checkpoint-names transfer-forbidden computed-on-the-host",
    "11.6": "donated-twice donated-and-static put-aliased-and-donated donated-into-another-size crashed killed",
    "13.2": "tiled-fft",
    "13.6": "kernel-needs-interpret kernel-varies kernel-out-of-memory kernel-operation-missing",
    "14.1": "local-data-shape unknown-process",
    "14.2": "initialize-too-late initialize-arguments barrier-timeout coordinator-unreachable peer-ended device-failure"
    " group-not-complete gpu-library-failed cards-differ",
}
TRAINED = {name: exercise for exercise, names in _ROWS.items() for name in names.split()} | {
    case.name: case.exercise for case in (*cases.CASES, *old.CASES)
}
"""The exercise of a row. What belongs to tracing and to Python, and not to parallel programs, is trained by none."""
