import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


def loss(W, x, y):
    out, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, W)
    return jnp.sum((out - y) ** 2)


@right
def a_row_for_each_device():
    def accumulate(mesh, W, X, Y):
        n = mesh.shape["data"]

        def cut(a):
            count, rows, width = a.shape
            return a.reshape(count, n, rows // n, width, out_sharding=P(None, "data", None, None)).swapaxes(0, 1)

        def own(X, Y):
            return jax.lax.scan(lambda t, batch: (t + jax.grad(loss)(W, *batch), None), jnp.zeros_like(W), (X, Y))[0]

        return jax.vmap(own)(cut(X), cut(Y)).sum(0)


@wrong("accumulator-does-not-vary", 0)
def accumulator_does_not_vary():
    def accumulate(mesh, W, X, Y):
        def body(W, X, Y):
            varying = jax.lax.pcast(W, "data", to="varying")

            def add(total, batch):
                return total + jax.grad(loss)(varying, *batch), None

            total, _ = jax.lax.scan(add, jnp.zeros(W.shape), (X, Y))
            return jax.lax.psum(total, "data")

        cut = P(None, "data")
        return jax.shard_map(body, mesh=mesh, in_specs=(P(), cut, cut), out_specs=P())(W, X, Y)


@wrong("all-reduce-each-layer", 10.5)
def all_at_once():
    def accumulate(mesh, W, X, Y):
        return jax.grad(lambda W: jax.vmap(lambda x, y: loss(W, x, y))(X, Y).sum())(W)


@right
def by_shard_map():
    def accumulate(mesh, W, X, Y):
        def body(W, X, Y):
            varying = jax.lax.pcast(W, "data", to="varying")

            def add(total, batch):
                return total + jax.grad(loss)(varying, *batch), None

            total, _ = jax.lax.scan(add, jnp.zeros_like(varying), (X, Y))
            return jax.lax.psum(total, "data")

        cut = P(None, "data")
        return jax.shard_map(body, mesh=mesh, in_specs=(P(), cut, cut), out_specs=P())(W, X, Y)


@right
def by_shard_map_unchecked():
    def accumulate(mesh, W, X, Y):
        def body(W, X, Y):

            def add(total, batch):
                return total + jax.grad(loss)(W, *batch), None

            total, _ = jax.lax.scan(add, jnp.zeros_like(W), (X, Y))
            return jax.lax.psum(total, "data")

        cut = P(None, "data")
        return jax.shard_map(body, mesh=mesh, in_specs=(P(), cut, cut), out_specs=P(), check_vma=False)(W, X, Y)


@right
def cast_inside_the_loss():
    def accumulate(mesh, W, X, Y):
        def total(W):
            cast = jax.reshard(W, P(reduced={"data"}))
            return jax.lax.scan(lambda t, batch: (t + loss(cast, *batch), None), 0.0, (X, Y))[0]

        return jax.grad(total)(W)


@wrong("all-reduce-each-microbatch", 10.5)
def each_microbatch():
    def accumulate(mesh, W, X, Y):
        cast = jax.reshard(W, P(reduced={"data"}))

        def add(total, batch):
            return total + jax.reshard(jax.grad(loss)(cast, *batch), P()), None

        return jax.lax.scan(add, jnp.zeros_like(W), (X, Y))[0]


@right
def fori():
    def accumulate(mesh, W, X, Y):
        cast = jax.reshard(W, P(reduced={"data"}))

        def add(i, total):
            return total + jax.grad(loss)(cast, X[i], Y[i])

        start = jax.reshard(jnp.zeros_like(W), P(unreduced={"data"}))
        return jax.reshard(jax.lax.fori_loop(0, len(X), add, start), P())


@wrong("gathers", 10.5)
def gathers():
    def accumulate(mesh, W, X, Y):
        X, Y = (jax.reshard(a, P()) for a in (X, Y))
        return jax.lax.scan(lambda t, batch: (t + jax.grad(loss)(W, *batch), None), jnp.zeros_like(W), (X, Y))[0]


@wrong("last-microbatch-only", 0)
def last_only():
    def accumulate(mesh, W, X, Y):
        cast = jax.reshard(W, P(reduced={"data"}))
        start = jax.reshard(jnp.zeros_like(W), P(unreduced={"data"}))
        total, _ = jax.lax.scan(lambda t, batch: (jax.grad(loss)(cast, *batch), None), start, (X, Y))
        return jax.reshard(total, P())


@wrong("never-reduced", 0)
def left_unreduced():
    def accumulate(mesh, W, X, Y):
        cast = jax.reshard(W, P(reduced={"data"}))
        start = jax.reshard(jnp.zeros_like(W), P(unreduced={"data"}))
        return jax.lax.scan(lambda t, batch: (t + jax.grad(loss)(cast, *batch), None), start, (X, Y))[0]


@wrong("mean-instead-of-sum", 0)
def mean():
    def accumulate(mesh, W, X, Y):
        def body(W, X, Y):
            varying = jax.lax.pcast(W, "data", to="varying")

            def add(total, batch):
                return total + jax.grad(loss)(varying, *batch), None

            total, _ = jax.lax.scan(add, jnp.zeros_like(varying), (X, Y))
            return jax.lax.pmean(total, "data")

        cut = P(None, "data")
        return jax.shard_map(body, mesh=mesh, in_specs=(P(), cut, cut), out_specs=P())(W, X, Y)


@wrong("mean-instead-of-sum")
def mean_of_microbatches():
    def accumulate(mesh, W, X, Y):
        cast = jax.reshard(W, P(reduced={"data"}))
        start = jax.reshard(jnp.zeros_like(W), P(unreduced={"data"}))

        def add(total, batch):
            return total + jax.grad(loss)(cast, *batch), None

        total, _ = jax.lax.scan(add, start, (X, Y))
        return jax.reshard(total, P()) / len(X)


@wrong("never-reduced", 0)
def never_reduced():
    def accumulate(mesh, W, X, Y):
        def body(W, X, Y):

            def add(total, batch):
                return total + jax.grad(loss)(W, *batch), None

            total, _ = jax.lax.scan(add, jnp.zeros_like(W), (X, Y))
            return total

        cut = P(None, "data")
        return jax.shard_map(body, mesh=mesh, in_specs=(P(), cut, cut), out_specs=P(), check_vma=False)(W, X, Y)


@right
def one_big_loss():
    def accumulate(mesh, W, X, Y):
        def total(W):
            return jax.lax.scan(lambda t, batch: (t + loss(W, *batch), None), 0.0, (X, Y))[0]

        return jax.reshard(jax.grad(total)(jax.reshard(W, P(reduced={"data"}))), P())


@wrong("accumulator-is-reduced", 0)
def plain_accumulator():
    def accumulate(mesh, W, X, Y):
        cast = jax.reshard(W, P(reduced={"data"}))

        def add(total, batch):
            return total + jax.grad(loss)(cast, *batch), None

        return jax.reshard(jax.lax.scan(add, jnp.zeros_like(W), (X, Y))[0], P())


@wrong("promise-not-proved", 0)
def promise():
    def accumulate(mesh, W, X, Y):
        def body(W, X, Y):
            varying = jax.lax.pcast(W, "data", to="varying")

            def add(total, batch):
                return total + jax.grad(loss)(varying, *batch), None

            total, _ = jax.lax.scan(add, jnp.zeros_like(varying), (X, Y))
            return total

        cut = P(None, "data")
        return jax.shard_map(body, mesh=mesh, in_specs=(P(), cut, cut), out_specs=P())(W, X, Y)


@wrong("reduced-twice", 0)
def psum_again():
    def accumulate(mesh, W, X, Y):
        def body(W, X, Y):

            def add(total, batch):
                return total + jax.grad(loss)(W, *batch), None

            total, _ = jax.lax.scan(add, jnp.zeros_like(W), (X, Y))
            return jax.lax.psum(total, "data")

        cut = P(None, "data")
        return jax.shard_map(body, mesh=mesh, in_specs=(P(), cut, cut), out_specs=P())(W, X, Y)


@wrong("all-reduce-in-both-loops", 10.5)
def replicated():
    def accumulate(mesh, W, X, Y):
        def add(total, batch):
            return total + jax.grad(loss)(W, *batch), None

        return jax.lax.scan(add, jnp.zeros_like(W), (X, Y))[0]


@wrong("all-reduce-in-both-loops", 10.5)
def replicated_shard_map():
    def accumulate(mesh, W, X, Y):
        def body(W, X, Y):

            def add(total, batch):
                return total + jax.grad(loss)(W, *batch), None

            total, _ = jax.lax.scan(add, jnp.zeros_like(W), (X, Y))
            return total

        cut = P(None, "data")
        return jax.shard_map(body, mesh=mesh, in_specs=(P(), cut, cut), out_specs=P())(W, X, Y)


@wrong("summed-after-the-reduction")
def stack_then_sum():
    def accumulate(mesh, W, X, Y):
        cast = jax.reshard(W, P(reduced={"data"}))
        _, all_ = jax.lax.scan(lambda c, b: (c, jax.grad(loss)(cast, *b)), 0, (X, Y))
        return jax.reshard(all_, P()).sum(0)


@right
def vmap():
    def accumulate(mesh, W, X, Y):
        cast = jax.reshard(W, P(reduced={"data"}))
        g = jax.grad(lambda W: jax.vmap(loss, (None, 0, 0))(W, X, Y).sum())(cast)
        return jax.reshard(g, P())


@wrong("all-reduce-each-layer", 10.5)
def manual_layers_after():
    def accumulate(mesh, W, X, Y):
        def body(W, X, Y):
            w = jax.lax.pcast(W, "data", to="varying")
            total, _ = jax.lax.scan(lambda t, b: (t + jax.grad(loss)(w, *b), None), jnp.zeros_like(w), (X, Y))
            return jax.lax.map(lambda g: jax.lax.psum(g, "data"), total)

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(None, "data"), P(None, "data")), out_specs=P())(W, X, Y)


@wrong("-", 0)
def carry_scalar():
    def accumulate(mesh, W, X, Y):
        def add(total, batch):
            return total + jax.grad(loss)(W, *batch), None

        total, _ = jax.lax.scan(add, 0.0, (X, Y))
        return total
