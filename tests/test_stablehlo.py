"""Only programs made of allowed operations, for the question's devices and arrays, are admitted; equal ones have equal bytes."""

from __future__ import annotations

import base64

import jax
import jax.numpy as jnp
import pytest
from jax._src.lib import _jax
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import hlo
from jax.interpreters import mlir

from sample_questions import PROGRAM, P, contraction, product
from shardlab.answers.context import situation
from shardlab.answers.record import record
from shardlens.export import stablehlo

CASE = PROGRAM.items[0].cases[0]
HEAD = "module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32"


def exported(function) -> bytes:
    entry = record(PROGRAM.manifest(), {"product": function}, {})["items"]["product"]["programs"][0]
    assert "module" in entry, entry
    return base64.b64decode(entry["module"])


def assembled(body: str, attributes: str = "", functions: str = "") -> bytes:
    """The bytes of a module with this main on one f32[4]."""
    text = f"{HEAD}{attributes}}} {{\n{functions}\nfunc.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {{\n{body}\n}}\n}}"
    with mlir.make_ir_context():
        version = hlo.get_version_from_compatibility_requirement(hlo.StablehloCompatibilityRequirement.WEEK_4)
        return _jax.mlir.serialize_portable_artifact(ir.Module.parse(text), version, True)


def nested(depth: int) -> str:
    case = "stablehlo.return %a : tensor<4xf32>"
    for _ in range(depth):
        case = f'%n = "stablehlo.case"(%i) ({{\n{case}\n}}) : (tensor<i32>) -> tensor<4xf32>\nstablehlo.return %n : tensor<4xf32>'
    top = case.rsplit("\n", 1)[0]
    return f"%i = stablehlo.constant dense<0> : tensor<i32>\n{top}\nfunc.return %n : tensor<4xf32>"


HOST = 'stablehlo.abs %a {mhlo.frontend_attributes = {_xla_compute_type = "host"}} : tensor<4xf32>'
LOOP = "func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n%b = func.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %b : tensor<4xf32>\n}"
COMPOSITE = '%b = stablehlo.composite "chlo.erf" %a {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>'
DECOMPOSED = f"func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {{\n{COMPOSITE}\nreturn %b : tensor<4xf32>\n}}"
RETURN = "return %b : tensor<4xf32>"
MESHES = 'sdy.mesh @m = <["x"=8]>\nsdy.mesh @n = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>'
CONSTRAIN = '%c = sdy.sharding_constraint %a <@m, [{"x"}]> : tensor<4xf32>\n%b = sdy.sharding_constraint %c <@n, [{"y"}]> : tensor<4xf32>'

HUGE = """%c = stablehlo.constant dense<0.0> : tensor<f32>
%d = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<100000000xf32>
%e = stablehlo.reduce(%d init: %c) applies stablehlo.add across dimensions = [0] : (tensor<100000000xf32>, tensor<f32>) -> tensor<f32>
%f = stablehlo.broadcast_in_dim %e, dims = [] : (tensor<f32>) -> tensor<4xf32>
return %f : tensor<4xf32>"""

REFUSED = {
    "host callback": (lambda: assembled(f"%b = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {{api_version = 4 : i32}} : (tensor<4xf32>) -> tensor<4xf32>\n{RETURN}"), r"stablehlo.custom_call \(xla_ffi_python_cpu_callback\)"),
    "LAPACK": (lambda: exported(lambda m, a, b: jnp.linalg.cholesky(a[:16, :16]) + product(m, a, b)[:16, :16]), "custom_call"),
    "outfeed": (lambda: assembled('%t = stablehlo.create_token : !stablehlo.token\n%u = "stablehlo.outfeed"(%a, %t) {outfeed_config = ""} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token\nreturn %a : tensor<4xf32>'), "create_token"),
    "host compute": (lambda: assembled(f"%b = {HOST}\n{RETURN}"), "mhlo.frontend_attributes"),
    "recursion": (lambda: assembled(f"%b = func.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n{RETURN}", functions=LOOP), "call themselves"),
    "recursive composite": (lambda: assembled(f"{COMPOSITE}\n{RETURN}", functions=DECOMPOSED), "call themselves"),
    "main as decomposition": (lambda: assembled(f"{COMPOSITE.replace('@f', '@main')}\n{RETURN}"), "call themselves"),
    "deep nesting": (lambda: assembled(nested(60)), "nested more than 50 deep"),
    "huge array": (lambda: assembled(HUGE), "400000000 bytes"),
    "two mesh shapes": (lambda: assembled(f"{CONSTRAIN}\n{RETURN}", functions=MESHES), "meshes of 2 shapes"),
    "no program": (lambda: b"PK\x03\x04", "not a StableHLO program"),
    "empty": (lambda: b"", "made for 1 devices"),
    "too long": (lambda: b"\0" * (stablehlo.MODULE_BYTES + 1), "bytes long"),
}  # fmt: skip


@pytest.mark.parametrize("module, reason", REFUSED.values(), ids=REFUSED)
def test_refused(module, reason: str) -> None:
    """What could reach the host, hang or exhaust the judge is refused by name."""
    with pytest.raises(stablehlo.Refused, match=reason):
        stablehlo.admit(module(), 8)


def test_other_device_count_is_refused() -> None:
    """A program is bound to its number of devices."""
    with pytest.raises(stablehlo.Refused, match="made for 8 devices, but the question's mesh has 4"):
        stablehlo.admit(exported(product), 4)


def test_other_arguments_are_refused() -> None:
    """The question, not the module, says what a program takes."""
    _, specs = situation(contraction(8, 8, 8, x=2, y=4).to_json())
    with pytest.raises(stablehlo.Refused, match=r"takes float32\[24, 40\], float32\[40, 16\] instead of float32\[8, 8\]"):
        stablehlo.rebuild(stablehlo.admit(exported(product), 8), specs)


def by_einsum(mesh, left, right):
    def body(left, right):
        return jax.lax.psum(jnp.einsum("ij,jk->ik", left, right), "x")

    return {
        "out": jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x", None)), out_specs=P(None, None))(left, right)
    }


def test_equal_programs_have_equal_bytes() -> None:
    """Names, line numbers and spelling do not count."""
    assert stablehlo.admit(exported(product), 8) == stablehlo.admit(exported(by_einsum), 8)


def test_nothing_of_the_source_travels() -> None:
    """File names, variable names and function names are gone before the program leaves."""
    module = exported(by_einsum)
    assert not any(word in module for word in (b"test_stablehlo", b"left", b"by_einsum", b"body"))


def test_the_error_function_is_admitted() -> None:
    """An exact gelu and truncated normal numbers, and so the layers of Flax, are made of it; JAX exports it as a composite."""
    admitted = stablehlo.admit(exported(lambda *args: jax.scipy.special.erf(product(*args))), 8)
    counts = dict(admitted.operations)
    assert counts["stablehlo.composite"] == 1
    assert counts["stablehlo.divide"] == 1  # of the decomposition, which is a call like any other


@pytest.mark.thorough(after=6)
@pytest.mark.parametrize("name", "arccos arccosh arcsin arcsinh arctanh cosh sinh round trunc sign".split())
def test_elementary_functions_are_admitted(name: str) -> None:
    """Those that JAX exports as composites, and those that are operations."""
    stablehlo.admit(exported(lambda *args: getattr(jnp, name)(product(*args))), 8)


def test_floor_division_and_angles_are_admitted() -> None:
    """`//` of floats rounds away from zero on its way."""
    stablehlo.admit(exported(lambda *args: product(*args) // 2 + jnp.arctan2(product(*args), 3.0)), 8)


def test_no_program_is_read_where_another_one_was() -> None:
    """JAX 0.12 hands the same context out again; ours are new."""
    assert len({id(context) for context in [stablehlo._new_context() for _ in range(3)]}) == 3
