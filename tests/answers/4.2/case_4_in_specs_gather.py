# failed: left-to-the-compiler
# points: 4.5
import jax

P = jax.P


def case_1(mesh, A, B):
    def body(a, b):
        return a @ b

    return jax.shard_map(body, mesh=mesh, in_specs=(P('x', None), P(None, 'y')), out_specs=P('x', 'y'))(A, B)


def case_2(mesh, A, B):
    def body(a, b):
        a = jax.lax.all_gather(a, 'x', axis=1, tiled=True, to='invarying')
        return a @ b

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, 'x'), P()), out_specs=P())(A, B)


def case_3(mesh, A, B):
    def body(a, b):
        return jax.lax.psum(a @ b, 'x')

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, 'x'), P('x', None)), out_specs=P())(A, B)


def case_4(mesh, A, B):
    def body(a, b):
        return a @ b

    return jax.shard_map(body, mesh=mesh, in_specs=(P('x', None), P()), out_specs=P('x', None))(A, B)
