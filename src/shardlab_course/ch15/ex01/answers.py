import jax
import jax.numpy as jnp
from jax import P

from shardlab_course.answers import right, wrong

RATE, KEEP, STEPS = 0.5, 0.9, 5

SPECS = (P(), P(None, None, "model", None), P("model", None, None), P(None, "model"), P("model", None), P(None, "model"))


def mean_loss(weights, tokens, parts):
    E, A, C, W1, W2, U = weights
    D, S = E.shape[1], tokens.shape[1] - 1
    x = E[tokens[:, :-1]]
    q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
    scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
    scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
    found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
    mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
    x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
    active = jax.nn.relu(norm(x) @ W1 / D**0.5)
    x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
    logits = norm(x) @ U / D**0.5
    top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
    own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
    right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
    total = jnp.exp(logits - top[..., None]).sum(-1)
    right, total = jax.lax.psum((right, total), "model")
    return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@right
def another_way():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("losses-after-the-step", 0)
def after_the_step():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), mean_loss(weights, tokens, parts)

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("left-to-the-compiler", 0)
def automatic():
    def mean_loss(weights, tokens):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        x += jnp.einsum("bqhk,hkd->bqd", found, C) / (C.shape[0] * C.shape[1]) ** 0.5
        x += jax.nn.relu(norm(x) @ W1 / D**0.5) @ W2 / len(W2) ** 0.5
        logits = jax.nn.log_softmax(norm(x) @ U / D**0.5)
        return -jnp.mean(jnp.take_along_axis(logits, tokens[:, 1:, None], -1))

    def hand_train(mesh, tokens, *weights):
        speeds, losses = jax.tree.map(jnp.zeros_like, weights), []
        for _ in range(STEPS):
            loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens)
            speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
            weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
            losses.append(loss)
        return jnp.stack(losses), *weights, *speeds


@right
def cast_then_reduced():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jnp.mean(jnp.log(total) + top - right)

    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                own = jax.lax.pcast(weights, "data", to="varying")
                found = jax.value_and_grad(mean_loss)(own, tokens, parts)
                loss, slopes = jax.lax.pmean(found, "data")
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("gradients-wrong", 0)
def check_off():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS), check_vma=False)(
            tokens, *weights
        )


@wrong("weights-gathered", 28, of="another_way")
def gathers_hidden_weights():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        W1 = jax.lax.all_gather(W1, "model", axis=1, tiled=True)
        W2 = jax.lax.all_gather(W2, "model", axis=0, tiled=True)
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += active @ W2 / len(W2) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@wrong("logits-gathered", 28, of="another_way")
def gathers_logits():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        logits = jax.lax.all_gather(logits, "model", axis=2, tiled=True)
        top = jax.lax.stop_gradient(logits.max(-1))
        own = jnp.arange(logits.shape[-1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), ("data", "model"))


@wrong("gradient-summed-twice", 0)
def gradients_averaged():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jnp.mean(jnp.log(total) + top - right)

    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                loss, slopes = jax.lax.pmean((loss, slopes), "data")
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("-", 0)
def losses_only():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("maximum-differentiated", 0, of="another_way")
def maximum_differentiated():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(logits.max(-1), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@wrong("promise-not-proved", 0, of="another_way")
def no_sum_in_loss():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@wrong("terms-not-summed", 0, of="another_way")
def no_sum_over_model():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += active @ W2 / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@wrong("one-loss", 0)
def one_step():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, 1)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("own-shape-for-the-whole", 0, of="another_way")
def own_heads():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@wrong("terms-not-summed", 0, of="another_way")
def own_heads_summed_late():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jnp.einsum("bqhk,hkd->bqd", found, C)
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@wrong("terms-not-summed", 0, of="another_way")
def own_heads_unsummed():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jnp.einsum("bqhk,hkd->bqd", found, C)
        x += mixed / (C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@wrong("own-shape-for-the-whole", 0, of="another_way")
def own_hidden():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / len(W2) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@wrong("own-token-numbers", 0, of="another_way")
def own_token_numbers():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@wrong("own-vocabulary", 0, of="another_way")
def own_vocabulary():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        top = jax.lax.stop_gradient(logits.max(-1))
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right = jax.lax.psum(right, "model")
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), ("data", "model"))


@wrong("momentum-forgotten", 0)
def plain_descent():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("speeds-whole", 21)
def speeds_whole():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        out = jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)
        whole = jax.sharding.NamedSharding(mesh, P())
        return *out[:7], *jax.lax.with_sharding_constraint(out[7:], whole)


@right
def step_outside():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]
        given = (P("data", None), *SPECS)
        loss_of = jax.shard_map(lambda t, *w: mean_loss(w, t, parts), mesh=mesh, in_specs=given, out_specs=P())
        losses, speeds = [], jax.tree.map(jnp.zeros_like, weights)
        for _ in range(STEPS):
            loss, slopes = jax.value_and_grad(lambda w: loss_of(tokens, *w))(weights)
            speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
            weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
            losses.append(loss)
        return jnp.stack(losses), *weights, *speeds

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("sum-instead-of-mean", 0, of="another_way")
def summed_means():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right, total = jax.lax.psum((right, total), "model")
        return jax.lax.psum(jnp.mean(jnp.log(total) + top - right), "data")


@right(of="another_way")
def sums_gathered():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        own_lse = jnp.log(total) + top
        everyone = jax.lax.all_gather(own_lse, "model")
        right = jax.lax.psum(right, "model")
        return jax.lax.pmean(jnp.mean(jax.nn.logsumexp(everyone, 0) - right), ("data", "model"))


@right(of="another_way")
def three_sums():
    def mean_loss(weights, tokens, parts):
        E, A, C, W1, W2, U = weights
        D, S = E.shape[1], tokens.shape[1] - 1
        x = E[tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,xdhk->xbshk", norm(x), A) / D**0.5
        scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
        scores = jnp.where(jnp.tri(S) > 0, scores, -jnp.inf)
        found = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores), v)
        mixed = jax.lax.psum(jnp.einsum("bqhk,hkd->bqd", found, C), "model")
        x += mixed / (parts * C.shape[0] * C.shape[1]) ** 0.5
        active = jax.nn.relu(norm(x) @ W1 / D**0.5)
        x += jax.lax.psum(active @ W2, "model") / (parts * len(W2)) ** 0.5
        logits = norm(x) @ U / D**0.5
        top = jax.lax.pmax(jax.lax.stop_gradient(logits.max(-1)), "model")
        own = jax.lax.axis_index("model") * U.shape[1] + jnp.arange(U.shape[1])
        right = jnp.where(tokens[:, 1:, None] == own, logits, 0).sum(-1)
        total = jnp.exp(logits - top[..., None]).sum(-1)
        right = jax.lax.psum(right, "model")
        total = jax.lax.psum(total, "model")
        return jax.lax.pmean(jnp.mean(jnp.log(total) + top - right), "data")


@right
def unrolled():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            losses = []
            for _ in range(STEPS):
                (weights, speeds), loss = step((weights, speeds), None)
                losses.append(loss)
            return jnp.stack(losses), *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("uphill", 0)
def uphill():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w + RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("tokens-gathered", 0)
def whole_batch():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = jax.tree.map(jnp.zeros_like, weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), *SPECS), out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)


@wrong("carry-does-not-vary", 0)
def zeros_of_a_shape():
    def hand_train(mesh, tokens, *weights):
        parts = mesh.shape["model"]

        def body(tokens, *weights):
            def step(state, _):
                weights, speeds = state
                loss, slopes = jax.value_and_grad(mean_loss)(weights, tokens, parts)
                speeds = jax.tree.map(lambda v, g: KEEP * v + g, speeds, slopes)
                weights = jax.tree.map(lambda w, v: w - RATE * v, weights, speeds)
                return (weights, speeds), loss

            speeds = tuple(jnp.zeros(w.shape) for w in weights)
            (weights, speeds), losses = jax.lax.scan(step, (weights, speeds), None, STEPS)
            return losses, *weights, *speeds

        given = (P("data", None), *SPECS)
        return jax.shard_map(body, mesh=mesh, in_specs=given, out_specs=(P(), *SPECS, *SPECS))(tokens, *weights)
