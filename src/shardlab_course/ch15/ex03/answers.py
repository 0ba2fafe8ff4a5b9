import jax
import jax.numpy as jnp
from jax import P

import shardlab as sl
from shardlab_course.answers import right, told, wrong


@wrong("-", 7)
def a_dimension_more():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W / W.shape[-1] ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("one-microbatch-missing", 7)
def a_tick_less():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 2))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@told("one-tick-too-many")
def a_tick_more():
    sl.predict("15.3", idle={"one": 4 / 5, "four": 4 / 8, "sixteen": 4 / 20, "a_tenth": 36})


@wrong("every-stage-counted", 7)
def all_stages():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where(done >= 0, error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("every-stage-counted", 7)
def all_stages_own():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - stage
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((done >= 0) & (done < count), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("left-to-the-compiler", 7)
def automatic():
    def pipeline(mesh, W, X, Y):
        def loss(W):
            x = X
            for stage in W:
                x = jnp.tanh(x @ stage / len(stage) ** 0.5)
            return jnp.mean((x - Y) ** 2)

        return jax.value_and_grad(loss)(W)


@wrong("-", 7)
def a_tick_too_early():
    """A mean over a sum that has one output too many: the loss is near a multiple, and the gradients are not."""

    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= -1), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("other-mean", 7)
def averaged():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.pmean(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("branches-differ", 7)
def branches_differ():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jax.lax.cond(done >= 0, lambda: error, lambda: 0.0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@told("busy-not-idle")
def busy():
    sl.predict("15.3", idle={"one": 1 / 4, "four": 4 / 7, "sixteen": 16 / 19, "a_tenth": 1})


@wrong("cast-again", 7)
def cast_again():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            W = jax.lax.pcast(W, "stage", to="varying")
            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@right
def cyclic():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, (s + 1) % stages) for s in range(stages)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("weights-gathered", 24.5)
def gathers_weights():
    def pipeline(mesh, W, X, Y):
        def body(W, X, Y):
            def loss(W):
                x = X
                for stage in jax.lax.all_gather(W, "stage", tiled=True):
                    x = jnp.tanh(x @ stage / len(stage) ** 0.5)
                return jax.lax.pmean(jnp.mean((x - Y) ** 2), "stage")

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@right
def gradient_outside():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            return loss(W)

        cut = P("stage", None, None)
        program = jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=P())
        return jax.value_and_grad(program)(W, X, Y)


@wrong("gradient-wrong", 7)
def gradient_psum():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            value, slope = jax.value_and_grad(loss)(W)
            return value, jax.lax.psum(slope, "stage")

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("gradient-scaled", 7)
def gradient_summed():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return total / Y.size

            own, slope = jax.value_and_grad(loss)(W)
            return jax.lax.psum(own, "stage"), slope * stages

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@told("idle-over-useful")
def idle_over_useful():
    sl.predict("15.3", idle={"one": 3, "four": 3 / 4, "sixteen": 3 / 16, "a_tenth": 30})


@told("no-bubble-at-m-equal-s")
def idle_zero():
    sl.predict("15.3", idle={"one": 3 / 4, "four": 0, "sixteen": 0, "a_tenth": 27})


@wrong("stops-after-m-rounds", 7)
def m_rounds():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("maximum-differentiated", 7)
def maximum_differentiated():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.pmax(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("promise-not-proved", 7)
def no_psum():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return total / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("outputs-broadcast", 24.5)
def outputs_to_all():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    kept = jnp.where((stage == stages - 1) & (done >= 0), out, 0)
                    return jax.lax.ppermute(out, "stage", onward), kept

                start = jax.lax.pcast(jnp.zeros_like(X[0]), "stage", to="varying")
                _, outs = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jnp.mean((jax.lax.psum(outs[stages - 1 :], "stage") - Y) ** 2)

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@right
def own_loss():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return total / Y.size

            own, slope = jax.value_and_grad(loss)(W)
            return jax.lax.psum(own, "stage"), slope

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("carry-does-not-vary", 7)
def start_not_cast():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = (jnp.zeros_like(X[0]), 0.0)
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("other-mean", 7)
def sums():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage")

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("targets-of-the-tick", 7)
def tick_target():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.minimum(t, count - 1)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@right
def unrolled():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (done >= 0), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                carry = start
                for t in range(count + stages - 1):
                    carry, _ = tick(carry, t)
                total = carry[1]
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("warm-up-counted", 7)
def warm_up():
    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                def tick(carry, t):
                    arrived, total = carry
                    x = jnp.where(stage == 0, X[jnp.minimum(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    done = t - (stages - 1)
                    error = jnp.sum((out - Y[jnp.maximum(done, 0)]) ** 2)
                    total += jnp.where((stage == stages - 1), error, 0)
                    return (jax.lax.ppermute(out, "stage", onward), total), None

                start = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                (_, total), _ = jax.lax.scan(tick, start, jnp.arange(count + stages - 1))
                return jax.lax.psum(total, "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("whole-batch-travels", 24.5)
def whole_batch():
    def pipeline(mesh, W, X, Y):
        stages = mesh.shape["stage"]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                held = jax.lax.pcast(X, "stage", to="varying")
                for _ in range(stages):
                    out = jnp.tanh(held @ W[0] / len(W[0]) ** 0.5)
                    held = jax.lax.ppermute(out, "stage", [(s, s + 1) for s in range(stages - 1)])
                error = jnp.sum((out - Y) ** 2)
                return jax.lax.psum(jnp.where(stage == stages - 1, error, 0), "stage") / Y.size

            return jax.value_and_grad(loss)(W)

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)


@wrong("-", 24.5)
def unrolled_and_gathered():
    """Hops that are not sent are no room for a gather."""

    def pipeline(mesh, W, X, Y):
        stages, count = mesh.shape["stage"], len(X)
        onward = [(s, s + 1) for s in range(stages - 1)]

        def body(W, X, Y):
            stage = jax.lax.axis_index("stage")

            def loss(W):
                arrived, total = jax.lax.pcast((jnp.zeros_like(X[0]), 0.0), "stage", to="varying")
                for t in range(count + stages - 1):
                    x = jnp.where(stage == 0, X[min(t, count - 1)], arrived)
                    out = jnp.tanh(x @ W[0] / len(W[0]) ** 0.5)
                    error = jnp.sum((out - Y[max(t - (stages - 1), 0)]) ** 2)
                    total += jnp.where((stage == stages - 1) & (t >= stages - 1), error, 0)
                    arrived = jax.lax.ppermute(out, "stage", onward)
                return total / Y.size

            own, slope = jax.value_and_grad(loss)(W)
            return jax.lax.all_gather(own, "stage", to="invarying").sum(), slope

        cut = P("stage", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(cut, P(), P()), out_specs=(P(), cut))(W, X, Y)
