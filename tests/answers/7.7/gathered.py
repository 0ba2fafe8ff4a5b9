# failed: whole-everywhere
# points: 1
import jax
import jax.numpy as jnp

P = jax.P


def solves(mesh, A, b):
    def body(A, b):
        matrices = A + 16 * jnp.eye(A.shape[-1])[None]
        found = jnp.linalg.solve(matrices[0], b[0])[None]
        return jax.lax.all_gather(found, mesh.axis_names, tiled=True, to="invarying")

    spec = P(mesh.axis_names)
    return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=P())(A, b)
