# failed: bias-once-too-often
# points: 2
import jax

import shardlab as sl

P = jax.P


predictions = sl.predict("9.3", times=1)


def mlp_bias(mesh, X, W1, b1, W2, b2):
    def body(x, w1, b1, w2, b2):
        h = jax.nn.relu(x @ w1 + b1)
        return jax.lax.psum(h @ w2, "model") + b2

    specs = (P(), P(None, "model"), P("model"), P("model", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, b1, W2, b2)
