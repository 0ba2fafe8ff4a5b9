# failed: damping-forgotten
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def solves(mesh, A, b):
    def body(A, b):
        return jnp.linalg.solve(A[0], b[0])[None]

    spec = P(mesh.axis_names)
    return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)
