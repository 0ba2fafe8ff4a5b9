import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P

SPECS = P("model", None), P(None, "model"), P()


def squares(*arrays):
    return sum(jnp.sum(a**2) for a in arrays)


def scaled(arrays, total):
    return tuple(a * jnp.minimum(1, 12 / jnp.sqrt(total)) for a in arrays)


@right
def another_way():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled((A, B, C), jax.lax.psum(squares(A, B), "model") + squares(C))

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)


@wrong("always-scaled", 0)
def always():
    def clip(mesh, *arrays):
        return tuple(a * 12 / jnp.sqrt(squares(*arrays)) for a in arrays)


@wrong("array-by-array", 0)
def array_by_array():
    def clip(mesh, *arrays):
        return tuple(scaled((a,), squares(a))[0] for a in arrays)


@right
def automatic():
    def clip(mesh, *arrays):
        return scaled(arrays, squares(*arrays))


@right
def by_optax():
    import optax

    def clip(mesh, *arrays):
        rule = optax.clip_by_global_norm(12.0)
        return rule.update(arrays, rule.init(arrays))[0]


@wrong("copies-counted", 0)
def copies_counted():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled((A, B, C), jax.lax.psum(squares(A, B, C), "model"))

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)


@wrong("not-clipped")
def elementwise():
    def clip(mesh, *slopes):
        return tuple(jnp.clip(g, -12, 12) for g in slopes)


@wrong("whole-array-forgotten", 0)
def forgotten():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled((A, B, C), jax.lax.psum(squares(A, B), "model"))

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)


@wrong("gathers", 5.5)
def gathers():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled(
                (A, B, C),
                squares(
                    jax.lax.all_gather(A, "model", tiled=True, to="invarying"),
                    jax.lax.all_gather(B, "model", axis=1, tiled=True, to="invarying"),
                    C,
                ),
            )

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)


@wrong("clip-by-local-norm", 0)
def local_norm():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled((A, B, C), squares(A, B, C))

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)


@wrong("clip-by-local-norm", 0)
def local_norm_unchecked():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled((A, B, C), squares(A, B, C))

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS, check_vma=False)(*arrays)


@wrong("root-forgotten")
def no_root():
    def clip(mesh, *slopes):
        n = sum(jnp.sum(g * g) for g in slopes)
        return tuple(g * jnp.minimum(1, 12 / n) for g in slopes)


@wrong("norms-added", 0)
def norms_added():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled((A, B, C), jax.lax.psum(jnp.sqrt(squares(A, B)), "model") ** 2 + squares(C))

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)


@wrong("norms-added", 0)
def norms_of_all_added():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled((A, B, C), jax.lax.psum(jnp.sqrt(squares(A, B, C)), "model") ** 2)

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)


@wrong("squares-averaged")
def pmean():
    def clip(mesh, A, B, C):
        def body(A, B, C):

            ss = jax.lax.pmean(jnp.vdot(A, A) + jnp.vdot(B, B), "model") + jnp.vdot(C, C)
            f = jnp.minimum(1, 12 / jnp.sqrt(ss))
            return A * f, B * f, C * f

        specs = P("model", None), P(None, "model"), P()
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs)(A, B, C)


@right
def share_of_copies():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled((A, B, C), jax.lax.psum(squares(A, B) + squares(C) / mesh.shape["model"], "model"))

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)


@right
def two_sums():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled((A, B, C), jax.lax.psum(squares(A), "model") + jax.lax.psum(squares(B), "model") + squares(C))

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)


@right
def where_branch():
    def clip(mesh, A, B, C):
        def body(A, B, C):

            ss = jax.lax.psum(jnp.vdot(A, A) + jnp.vdot(B, B), axis_name=("model",)) + jnp.vdot(C, C)
            norm = jnp.sqrt(ss)
            return jax.tree.map(lambda g: jnp.where(norm > 12, g * (12 / norm), g), (A, B, C))

        specs = P("model", None), P(None, "model"), P()
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs)(A, B, C)


@wrong("-")
def last_array_subtracted():
    def clip(mesh, *arrays):
        def body(A, B, C):
            return scaled((A, B, C), jax.lax.psum(squares(A, B), "model") - squares(C))

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)


@wrong("clip-by-local-norm", 0)
def gathered_norms():
    def clip(mesh, *arrays):
        def body(A, B, C):
            total = jax.lax.all_gather(squares(A, B), "model").sum() + squares(C)
            return scaled((A, B, C), total)

        return jax.shard_map(body, mesh=mesh, in_specs=SPECS, out_specs=SPECS)(*arrays)
