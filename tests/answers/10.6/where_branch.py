# passed
import jax
import jax.numpy as jnp

P = jax.P


def clip(mesh, A, B, C):
    def body(A, B, C):

        ss = jax.lax.psum(jnp.vdot(A, A) + jnp.vdot(B, B), axis_name=("model",)) + jnp.vdot(C, C)
        norm = jnp.sqrt(ss)
        return jax.tree.map(lambda g: jnp.where(norm > 12, g * (12 / norm), g), (A, B, C))

    specs = P("model", None), P(None, "model"), P()
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs)(A, B, C)
