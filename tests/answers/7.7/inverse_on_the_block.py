# failed: vector-looks-like-matrix
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def solves(mesh, A, b):
    def body(A, b):
        matrices = A + 16 * jnp.eye(A.shape[-1])[None]
        return jnp.linalg.inv(matrices) @ b

    spec = P(mesh.axis_names)
    return jax.shard_map(body, mesh=mesh, in_specs=(spec, spec), out_specs=spec)(A, b)
