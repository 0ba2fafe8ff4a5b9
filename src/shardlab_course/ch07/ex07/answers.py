import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


@right
def column_vectors():
    def solves(mesh, A, b):
        def body(A, b):
            matrices = A + 16 * jnp.eye(A.shape[-1])[None]
            return jnp.linalg.solve(matrices, b[..., None])[..., 0]

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)


@wrong("whole-everywhere", 2)
def gathered():
    def solves(mesh, A, b):
        def body(A, b):
            matrices = A + 16 * jnp.eye(A.shape[-1])[None]
            found = jnp.linalg.solve(matrices[0], b[0])[None]
            return jax.lax.all_gather(found, mesh.axis_names, tiled=True, to="invarying")

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=P())(A, b)


@right
def inverse():
    def solves(mesh, A, b):
        def body(A, b):
            matrices = A + 16 * jnp.eye(A.shape[-1])[None]
            return (jnp.linalg.inv(matrices) @ b[..., None])[..., 0]

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)


@wrong("vector-looks-like-matrix", 0)
def inverse_on_the_block():
    def solves(mesh, A, b):
        def body(A, b):
            matrices = A + 16 * jnp.eye(A.shape[-1])[None]
            return jnp.linalg.inv(matrices) @ b

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)


@wrong("everyone-solves-all", 2)
def loop():
    def solves(mesh, A, b):
        matrices = A + 16 * jnp.eye(A.shape[-1])[None]
        return jax.lax.map(lambda pair: jnp.linalg.solve(*pair), (matrices, b))


@wrong("block-dimension-lost", 0)
def lost_dimension():
    def solves(mesh, A, b):
        def body(A, b):
            matrices = A + 16 * jnp.eye(A.shape[-1])[None]
            return jnp.linalg.solve(matrices[0], b[0])

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)


@right
def lu():
    from jax import P

    def solves(mesh, A, b):
        n = A.shape[-1]
        s = P(tuple(mesh.axis_names))
        f = jax.vmap(lambda m, v: jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(m), v))
        return jax.shard_map(f, mesh=mesh, in_specs=(s, s), out_specs=s)(A + 16 * jnp.eye(n), b)


@right
def no_shard_map():
    def solves(mesh, A, b):
        matrices = A + 16 * jnp.eye(A.shape[-1])[None]
        return jax.vmap(jnp.linalg.solve)(matrices, b)


@wrong("brought-to-the-host", 0)
def numpy():
    import numpy as np

    def solves(mesh, A, b):
        matrices = A + 16 * jnp.eye(A.shape[-1])[None]
        return np.linalg.solve(matrices, b[..., None])[..., 0]


@wrong("vector-looks-like-matrix", 0)
def on_the_block():
    def solves(mesh, A, b):
        def body(A, b):
            matrices = A + 16 * jnp.eye(A.shape[-1])[None]
            return jnp.linalg.solve(matrices, b)

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)


@wrong("one-system-only", 0)
def one_system():
    def solves(mesh, A, b):
        matrices = A + 16 * jnp.eye(A.shape[-1])[None]
        return jnp.linalg.solve(matrices[0], b[0])


@wrong("brought-to-the-host", 0)
def process_allgather():
    from jax.experimental import multihost_utils

    def solves(mesh, A, b):
        matrices = A + 16 * jnp.eye(A.shape[-1])[None]
        return multihost_utils.process_allgather(jax.vmap(jnp.linalg.solve)(matrices, b))


@right
def squeezed():
    def solves(mesh, A, b):
        def body(A, b):
            matrices = A + 16 * jnp.eye(A.shape[-1])[None]
            return jnp.linalg.solve(matrices.squeeze(0), b.squeeze(0))[None]

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)


@wrong("transposed", 0)
def transposed():
    def solves(mesh, A, b):
        def body(A, b):
            matrices = A + 16 * jnp.eye(A.shape[-1])[None]
            return jnp.linalg.solve(matrices[0].T, b[0])[None]

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)


@wrong("other-damping", 0)
def damped_by_one():
    def solves(mesh, A, b):
        def body(A, b):
            return jnp.linalg.solve(A[0] + jnp.eye(A.shape[-1]), b[0])[None]

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)


@wrong("other-damping", 0)
def undamped():
    def solves(mesh, A, b):
        def body(A, b):
            return jnp.linalg.solve(A[0], b[0])[None]

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)


@right
def vmap():
    def solves(mesh, A, b):
        def body(A, b):
            matrices = A + 16 * jnp.eye(A.shape[-1])[None]
            return jax.vmap(jnp.linalg.solve)(matrices, b)

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)


@wrong("one-system-only", 0)
def no_restack_p():
    def solves(mesh, A, b):
        def body(A, b):
            return jnp.linalg.solve(A[0] + 16 * jnp.eye(A.shape[-1]), b[0])

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=P(), check_vma=False)(A, b)


@right
def by_qr():
    """By an orthogonal and a triangular matrix."""

    def solves(mesh, A, b):
        def body(A, b):
            q, r = jnp.linalg.qr(A[0] + 16 * jnp.eye(A.shape[-1]))
            return jax.scipy.linalg.solve_triangular(r, q.T @ b[0])[None]

        spec = P(mesh.axis_names)
        return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)
