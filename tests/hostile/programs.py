"""Programs made by hand, for the judge: refused by name, or failed with the reason when they kill it or do not end."""

from __future__ import annotations

import textwrap

from .cases import Case, cells

SEND = '''
def send(text):
    """Hands in this text as every program."""
    import jax.export
    from jax.extend.mlir import ir
    from jax.extend.mlir.dialects import stablehlo
    from jax.interpreters import mlir
    import shardlens.export.stablehlo
    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        version = stablehlo.get_version_from_compatibility_requirement(stablehlo.StablehloCompatibilityRequirement.WEEK_4)
        sent = stablehlo.serialize_portable_artifact(module, version, True)
    shardlens.export.stablehlo.strip = lambda module, axes: sent
'''
HEAD = "module attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {"
MAIN = "func.func public @main(%a: tensor<8x64xf32>, %b: tensor<64x12xf32>) -> tensor<8x12xf32> {"
CALL = "%0 = stablehlo.custom_call @{target}(%a, %b) {{{more}}} : (tensor<8x64xf32>, tensor<64x12xf32>) -> tensor<8x12xf32>"
END = "return %0 : tensor<8x12xf32> } }"
ZERO = "%0 = stablehlo.constant dense<0.0> : tensor<8x12xf32>"
LOOP = """
    %i = stablehlo.constant dense<0> : tensor<i32>
    %w = stablehlo.while(%x = %i) : tensor<i32>
      cond { %seven = stablehlo.constant dense<7> : tensor<i32>
             %t = stablehlo.compare NE, %x, %seven : (tensor<i32>, tensor<i32>) -> tensor<i1>
             stablehlo.return %t : tensor<i1> }
      do { %two = stablehlo.constant dense<2> : tensor<i32>
           %y = stablehlo.add %x, %two : tensor<i32>
           stablehlo.return %y : tensor<i32> }
    %f = stablehlo.convert %w : (tensor<i32>) -> tensor<f32>
    %0 = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<8x12xf32>
"""


def program(name: str, body: str, *, main: str = MAIN, head: str = HEAD, reason: str = "", slow: bool = False) -> Case:
    """A notebook whose every program is this text."""
    text = f"{head} {main} {body} {END}"
    return cells(name, f"{SEND}\nsend({text!r})", "90.1", reason=reason, slow=slow)


def sent(name: str, bytes_: str, reason: str) -> Case:
    """A notebook whose every program is these bytes, an expression of Python."""
    code = f"import shardlens.export.stablehlo\nshardlens.export.stablehlo.strip = lambda module, axes: {bytes_}"
    return cells(name, code, "90.1", reason=reason)


def calling(target: str, more: str = "") -> str:
    """A call of a custom target."""
    return CALL.format(target=target, more=more)


CASES = (
    program("calls-python", calling("xla_ffi_python_cpu_callback", "api_version = 4 : i32, backend_config = {index = 0 : ui64}"),
            reason="stablehlo.custom_call (xla_ffi_python_cpu_callback)"),
    program("buffer-callback", calling("xla_buffer_python_cpu_callback"), reason="stablehlo.custom_call"),
    program("sharding-target", calling("Sharding"), reason="stablehlo.custom_call (Sharding)"),
    program("unknown-target", calling('"\\1B]0;owned\\07<script>alert(1)</script>[bold red]"'), reason="stablehlo.custom_call"),
    program("lapack-target", calling("lapack_sgetrf_ffi"), reason="stablehlo.custom_call"),
    program("infeed", "%t = stablehlo.create_token : !stablehlo.token\n" + ZERO, reason="stablehlo.create_token"),
    program("random", """
        %l = stablehlo.constant dense<0.0> : tensor<f32>
        %s = stablehlo.constant dense<[8, 12]> : tensor<2xi64>
        %0 = stablehlo.rng %l, %l, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<8x12xf32>
        """, reason="stablehlo.rng"),
    program("asks-who-it-is", "%r = stablehlo.replica_id : tensor<ui32>\n" + ZERO, reason="stablehlo.replica_id"),
    program("recursion", "%0 = func.call @main(%a, %b) : (tensor<8x64xf32>, tensor<64x12xf32>) -> tensor<8x12xf32>", reason="call themselves"),
    program("host-compute", """
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          {mhlo.frontend_attributes = {_xla_compute_type = "host"}} : (tensor<8x64xf32>, tensor<64x12xf32>) -> tensor<8x12xf32>
        """, reason="mhlo.frontend_attributes"),
    program("large-array", "%x = stablehlo.iota dim = 0 : tensor<1000000x1000000xf32>\n" + ZERO, reason="array of"),
    program("other-devices", ZERO, head=HEAD.replace("= 8", "= 4096"), reason="4096 devices"),
    program("other-arguments", ZERO, main="func.func public @main(%a: tensor<f32>) -> tensor<8x12xf32> {", reason="it takes"),
    program("no-main", ZERO, main=MAIN.replace("@main", "@other"), reason="no main"),
    program("deep-regions", "".join("""
        %i = stablehlo.constant dense<true> : tensor<i1>
        %0 = "stablehlo.if"(%i) ({""".replace("%i", f"%i{n}").replace("%0", f"%r{n}") for n in range(60)) + """
        %z = stablehlo.constant dense<0.0> : tensor<8x12xf32>
        stablehlo.return %z : tensor<8x12xf32>""" + "".join(f"""
        }}, {{ %y{n} = stablehlo.constant dense<0.0> : tensor<8x12xf32>
              stablehlo.return %y{n} : tensor<8x12xf32> }}) : (tensor<i1>) -> tensor<8x12xf32>
        """ + (f"stablehlo.return %r{n} : tensor<8x12xf32>" if n else "") for n in reversed(range(60))) + "\n%0 = stablehlo.negate %r0 : tensor<8x12xf32>",
        reason="nested"),
    program("many-operations", "%x0 = stablehlo.constant dense<0.0> : tensor<8x12xf32>\n" + "\n".join(
        f"%x{n + 1} = stablehlo.negate %x{n} : tensor<8x12xf32>" for n in range(20_500)) + "\n%0 = stablehlo.negate %x0 : tensor<8x12xf32>",
        reason="90.3"),
    sent("no-bytes", "b''", "refused"),
    sent("garbage", "b'ML\\xefR' * 50", "not a StableHLO program"),
    sent("huge", "bytes(300_000)", "90.3"),
    sent("broken-bytes", "module[:len(module) // 2] + bytes(99)", "90.3"),
    program("endless", LOOP, reason="did not end", slow=True),
    program("constant", ZERO, reason="90.3"),
)  # fmt: skip


def shown(case: Case) -> str:
    """The case's name, for a test's id."""
    return textwrap.shorten(case.name, 60)
