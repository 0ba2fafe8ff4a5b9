"""Answers that are wrong but plausible: what is right about them earns its points, and nothing else does."""

from __future__ import annotations

from .cases import answers, cells

NONE = {"90.3": 0.0}
PLACE_ONLY = {"90.3": 3.0}
"""Values and shardings right, communication not."""

CASES = (
    answers("visible-inputs", {"90.1": 0.0}, q90_1_answer="def double(n): return {1: 2, 2: 4}[n]"),
    answers("visible-inputs-guessed", {"90.1": 0.0}, q90_1_answer="def double(n): return {1: 2, 2: 4}.get(n, 4)"),
    answers("float-for-whole", {}, q90_1_answer="def double(n): return 2.0 * n"),
    answers("text-for-number", {"90.1": 0.0}, q90_1_answer="def double(n): return str(2 * n)"),
    answers("true-for-one", {"90.1": 0.0}, q90_1_answer="def double(n): return [2 * n]"),
    answers("nan", {"90.1": 0.0}, q90_1_answer="def double(n): return float('nan')"),
    answers("counts-calls", {"90.1": 0.0}, q90_1_answer="""
        calls = []
        def double(n):
            calls.append(n)
            return 2 * n if len(calls) < 3 else 0
        """),
    answers("numpy", NONE, reason="numpy", q90_3_answer="""
        import numpy as np
        def product(mesh, A, B): return jnp.array(np.asarray(A) @ np.asarray(B))
        """),
    answers("numpy-called-back", NONE, q90_3_answer="""
        import numpy as np
        def product(mesh, A, B):
            shape = jax.ShapeDtypeStruct((A.shape[0], B.shape[1]), "float32")
            return jax.pure_callback(lambda a, b: np.asarray(a) @ np.asarray(b), shape, A, B)
        """),
    answers("computed-before", NONE, q90_3_answer="""
        import numpy as np
        KNOWN = {s: np.random.default_rng(0).standard_normal(s).astype("float32") for s in ((8, 12), (12, 8))}
        def product(mesh, A, B): return jnp.asarray(KNOWN[A.shape[0], B.shape[1]])
        """),
    answers("lower-precision", NONE, q90_3_answer="""
        def product(mesh, A, B):
            def body(a, b): return jax.lax.psum((a.astype("bfloat16") @ b.astype("bfloat16")).astype("float32"), "x")
            return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
        """),
    answers("whole-numbers", NONE, q90_3_answer="""
        def product(mesh, A, B):
            return jax.shard_map(lambda a, b: jax.lax.psum((a @ b).astype("int32"), "x"), mesh=mesh,
                                 in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
        """),
    answers("nan-everywhere", NONE, q90_3_answer="""
        def product(mesh, A, B): return jnp.full((A.shape[0], B.shape[1]), jnp.nan)
        """),
    answers("infinite", NONE, q90_3_answer="""
        def product(mesh, A, B): return jnp.full((A.shape[0], B.shape[1]), jnp.inf)
        """),
    answers("partial-sums", NONE, q90_3_answer="""
        def product(mesh, A, B):
            return jax.shard_map(lambda a, b: a @ b, mesh=mesh, check_vma=False,
                                 in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
        """),
    answers("right-on-device-0", NONE, q90_3_answer="""
        def product(mesh, A, B):
            def body(a, b):
                c = jax.lax.psum(a @ b, "x")
                return jnp.where(jax.lax.axis_index("x") == 0, c, c + 1)
            return jax.shard_map(body, mesh=mesh, check_vma=False, in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
        """),
    answers("gathered-first", PLACE_ONLY, q90_3_answer="""
        def product(mesh, A, B):
            whole = jax.NamedSharding(mesh, P())
            A, B = (jax.lax.with_sharding_constraint(x, whole) for x in (A, B))
            return jax.lax.with_sharding_constraint(A @ B, whole)
        """),
    answers("one-device-then-placed", NONE, q90_3_answer="""
        def product(mesh, A, B):
            one = jax.sharding.SingleDeviceSharding(jax.devices()[0])
            return jax.device_put(jax.device_put(A, one) @ jax.device_put(B, one), jax.NamedSharding(mesh, P()))
        """),
    answers("mesh-of-one-device", NONE, q90_3_answer="""
        def product(mesh, A, B):
            one = jax.make_mesh((1,), ("x",), (jax.sharding.AxisType.Auto,), devices=jax.devices()[:1])
            return jax.shard_map(lambda a, b: jax.lax.psum(a @ b, "x"), mesh=one,
                                 in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
        """),
    answers("another-mesh", NONE, q90_3_answer="""
        def product(mesh, A, B):
            mine = jax.make_mesh((8,), ("x",), (jax.sharding.AxisType.Auto,))
            C = jax.shard_map(lambda a, b: jax.lax.psum(a @ b, "x"), mesh=mine,
                              in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
            return jax.lax.with_sharding_constraint(C, jax.NamedSharding(mesh, P()))
        """),
    answers("decoy-collective", PLACE_ONLY, q90_3_answer="""
        def product(mesh, A, B):
            def body(a, b):
                decoy = jax.lax.psum(a, "x")
                return jax.lax.psum(a @ b, "x") + 0 * decoy.sum()
            return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
        """),
    answers("dead-decoy", NONE, q90_3_answer="""
        def product(mesh, A, B):
            def body(a, b):
                jax.lax.psum(a @ b, "x")
                return a @ b
            return jax.shard_map(body, mesh=mesh, check_vma=False, in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
        """),
    answers("collective-in-a-loop", {"90.3": 3.0}, q90_3_answer="""
        def product(mesh, A, B):
            def body(a, b):
                c = jax.lax.psum(a @ b, "x")
                return jax.lax.while_loop(lambda s: s[0] < s[1].size * 0 + 3, lambda s: (s[0] + 1, jax.lax.pmean(s[1], "x")),
                                          (0, jax.lax.pcast(c, "x", to="varying")))[1]
            return jax.shard_map(body, mesh=mesh, check_vma=False, in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
        """),
    answers("donated-inputs", {}, q90_3_answer="""
        def inner(A, B): return A @ B
        def product(mesh, A, B):
            f = jax.shard_map(lambda a, b: jax.lax.psum(a @ b, "x"), mesh=mesh,
                              in_specs=(P(None, "x"), P("x")), out_specs=P())
            return jax.jit(f, donate_argnums=(0, 1))(A, B)
        """),
    answers("mutated-arguments", {}, q90_1_answer="""
        def double(n, seen=[]):
            seen.append(n)
            return 2 * n
        """, q90_4_answer="""
        rows = jax.NamedSharding(jax.make_mesh((8,), ("x",), (jax.sharding.AxisType.Auto,)), P("x", None))
        """),
    answers("scattered-output", {"90.3": 3.0}, q90_3_answer="""
        def product(mesh, A, B):
            return jax.shard_map(lambda a, b: jax.lax.psum_scatter(a @ b, "x", tiled=True), mesh=mesh,
                                 in_specs=(P(None, "x"), P("x")), out_specs=P("x"))(A, B) + 0
        """),
    answers("two-outputs", NONE, q90_3_answer="def product(mesh, A, B): return A @ B, A @ B"),
    answers("transposed", NONE, q90_3_answer="""
        def product(mesh, A, B):
            return jax.shard_map(lambda a, b: jax.lax.psum((a @ b).T, "x"), mesh=mesh,
                                 in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
        """),
    answers("branch-on-shape", NONE, q90_3_answer="""
        def product(mesh, A, B):
            if A.shape[0] not in (8, 12): return jnp.zeros((A.shape[0], B.shape[1]))
            if (mesh.shape["x"], A.shape) not in ((2, (8, 64)), (4, (12, 96))): return jnp.zeros((A.shape[0], B.shape[1]))
            return jax.shard_map(lambda a, b: jax.lax.psum(a @ b, "x"), mesh=mesh,
                                 in_specs=(P(None, "x"), P("x")), out_specs=P())(A, B)
        """),
    answers("returns-text", NONE, q90_3_answer="def product(mesh, A, B): return 'A @ B'"),
    answers("both-values", {"90.2": 0.5}, q90_2_answer_2="parts = {'A': [3, 4]}"),
    answers("predicts-all", {"90.2": 1.0}, q90_2_answer="sl.predict('90.2', kind=['all-reduce', 'all-gather'])"),
    answers("predicts-twice", {"90.2": 1.5}, q90_2_answer="""
        sl.predict("90.2", kind="all-gather")
        sl.predict("90.2", kind="all-reduce")
        """),
    answers("wrong-devices", {"90.4": 0.0}, q90_4_answer="""
        rows = jax.NamedSharding(jax.sharding.Mesh(jax.devices()[::-1], ("x",)), P("x"))
        """),
    answers("too-many-devices", {"90.4": 0.0}, q90_4_answer="rows = type('S', (), {'devices_indices_map': lambda s, n: {}})()"),
    cells("nothing-right", "pass"),
)  # fmt: skip
