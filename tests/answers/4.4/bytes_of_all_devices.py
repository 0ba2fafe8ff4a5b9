# failed: counts-all-devices
# points: 4
import jax
import shardlab as sl

P = jax.P

sl.predict("4.4", deep="all-reduce", wide="all-gather")


def costs(I, J, K, n):
    return {"gather": [4 * I * J * n, 2 * I * J * K], "reduce": [2 * 4 * I * K * n, 2 * I * J * K // n]}


def seconds(I, J, K, n, peak, bandwidth):
    gather, reduce = 4 * I * J / bandwidth, 8 * I * K / bandwidth
    return {"gather": max(gather, 2 * I * J * K / peak), "reduce": max(reduce, 2 * I * J * K / n / peak)}


def gather(mesh, A, B):
    def body(a, b):
        return jax.lax.all_gather(a, 'x', axis=1, tiled=True, to='invarying') @ b

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, 'x'), P()), out_specs=P())(A, B)


def reduce(mesh, A, B):
    def body(a, b):
        return jax.lax.psum(a @ b, 'x')

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, 'x'), P('x', None)), out_specs=P())(A, B)


def case_2_cheaper(mesh, A, B):
    return (reduce if A.shape[1] > 2 * B.shape[1] else gather)(mesh, A, B)
