import jax
import jax.numpy as jnp

from shardlab_course.answers import right, wrong

P = jax.P


@wrong("left-to-the-compiler", 0)
def automatic():
    def batch_norm(mesh, X, scale, shift):
        return (X - X.mean(0)) / jnp.sqrt(X.var(0) + 1e-5) * scale + shift


@right
def both_parts():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):

            own = x.mean(0)
            m = jax.lax.pmean(own, "data")
            v = jax.lax.pmean(x.var(0) + (own - m) ** 2, "data")
            return scale * (x - m) * jax.lax.rsqrt(v + 1e-5) + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("unbiased-variance")
def ddof():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):

            n = len(x) * jax.lax.axis_size("data")
            m = jax.lax.psum(x.sum(0), "data") / n
            v = jax.lax.psum(((x - m) ** 2).sum(0), "data") / (n - 1)
            return scale * (x - m) / jnp.sqrt(v + 1e-5) + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("statistics-gathered")
def gather_stats():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):

            ms = jax.lax.all_gather(x.mean(0), "data")
            m = ms.mean(0)
            v = jax.lax.all_gather(((x - m) ** 2).mean(0), "data").mean(0)
            return scale * (x - m) / jnp.sqrt(v + 1e-5) + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("gathers", 6)
def gathers():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            whole = jax.lax.all_gather(x, "data", tiled=True)
            m, v = whole.mean(0), whole.var(0)
            return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("mean-of-deviations", 0)
def mean_of_deviations():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            m, s = jax.lax.pmean((x.mean(0), x.std(0)), "data")
            v = s**2
            return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("mean-of-variances", 0)
def mean_of_variances():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            m, v = jax.lax.pmean((x.mean(0), x.var(0)), "data")
            return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("means-summed", 0)
def means_summed():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            m = jax.lax.psum(x.mean(0), "data")
            v = jax.lax.pmean(((x - m) ** 2).mean(0), "data")
            return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@right
def moments():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            m, q = jax.lax.pmean((x.mean(0), (x**2).mean(0)), "data")
            v = q - m**2
            return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("divided-by-the-variance")
def no_root():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):

            m = jax.lax.pmean(x.mean(0), "data")
            v = jax.lax.pmean(((x - m) ** 2).mean(0), "data")
            return scale * (x - m) / (v + 1e-5) + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("own-mean")
def own_mean_global_var():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):

            m = x.mean(0)
            v = jax.lax.pmean(((x - m) ** 2).mean(0), "data")
            return scale * (x - m) / jnp.sqrt(v + 1e-5) + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("own-statistics", 0)
def own_statistics():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            m, v = x.mean(0), x.var(0)
            return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("wrong-dimension", 0)
def rows():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            m, v = x.mean(1, keepdims=True), x.var(1, keepdims=True)
            return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@right
def sums():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            n = len(x) * mesh.shape["data"]
            m = jax.lax.psum(x.sum(0), "data") / n
            v = jax.lax.psum(((x - m) ** 2).sum(0), "data") / n
            return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@right
def variance_of_means():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            m = jax.lax.pmean(x.mean(0), "data")
            v = jax.lax.pmean(x.var(0) + (x.mean(0) - m) ** 2, "data")
            return (x - m) / jnp.sqrt(v + 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("epsilon-forgotten", 0)
def no_epsilon():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            m = jax.lax.pmean(x.mean(0), "data")
            v = jax.lax.pmean(((x - m) ** 2).mean(0), "data")
            return (x - m) / jnp.sqrt(v) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("epsilon-outside-the-root", 0)
def epsilon_outside():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            m = jax.lax.pmean(x.mean(0), "data")
            v = jax.lax.pmean(((x - m) ** 2).mean(0), "data")
            return (x - m) / (jnp.sqrt(v) + 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)


@wrong("-", 0)
def epsilon_subtracted():
    def batch_norm(mesh, X, scale, shift):
        def body(x, scale, shift):
            m = jax.lax.pmean(x.mean(0), "data")
            v = jax.lax.pmean(((x - m) ** 2).mean(0), "data")
            return (x - m) / jnp.sqrt(v - 1e-5) * scale + shift

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P(), P()), out_specs=P("data"))(X, scale, shift)
