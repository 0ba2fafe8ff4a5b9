# failed: parts-gathered
import jax

import shardlab as sl

P = jax.P
sl.predict("9.3", times=7)


def mlp_bias(mesh, X, W1, b1, W2, b2):
    def body(x, w1, b1, w2, b2):
        k = w1.shape[1]
        b = jax.lax.dynamic_slice_in_dim(b1, jax.lax.axis_index("model") * k, k)
        return jax.lax.psum(jax.nn.relu(x @ w1 + b) @ w2, "model") + b2

    specs = (P(), P(None, "model"), P(), P("model", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)
