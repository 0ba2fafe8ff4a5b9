import math

import jax
import jax.numpy as jnp
from jax import P

from shardlab_course.answers import right, wrong


@wrong("left-to-the-compiler", 0)
def automatic():
    def moe(mesh, X, G, W1, W2):
        blocks, experts = 8, G.shape[1]
        places = math.ceil(1.25 * len(X) / blocks / experts)
        chance = jax.nn.softmax(X @ G)
        expert = jnp.argmax(chance, -1)
        hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
        counts = jnp.cumsum(hot.reshape(blocks, -1, experts), 1).reshape(-1, experts)
        kept = (counts * hot).sum(-1) <= places
        answers = jnp.einsum("td,edf->etf", X, W1)
        answers = jnp.einsum("etf,efd->etd", jax.nn.relu(answers), W2)
        found = jnp.einsum("etd,te->td", answers, hot * (kept * chance.max(-1))[:, None])
        return X + found


@wrong("split-not-divisible", 0)
def back_with_0_1():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 0, 1, tiled=True)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("full-expert-answers", 0)
def clamped():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = back[expert, place]
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("rows-added-up", 0)
def dense():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            first = jax.lax.axis_index("expert") * len(W1)
            found = jnp.zeros_like(x)
            for e in range(len(W1)):
                mine = (expert == first + e) & (place < places)
                found += jnp.where(mine[:, None], jax.nn.relu(x @ W1[e]) @ W2[e], 0)
            found = jax.lax.psum(found, "expert")
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("dropped-are-zero", 0)
def dropped_zero():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("tokens-over-expert-alone", 0)
def expert_axis_only():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P("expert", None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("experts-gathered", 20)
def experts_come():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = parcels
            W1, W2 = (jax.lax.all_gather(w, "expert", tiled=True) for w in (W1, W2))
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = answers
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("all-tokens-gathered", 20)
def gathers_tokens():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            everyone = jax.lax.all_gather((x, expert, place), "expert", tiled=True)
            tokens, named, seat = everyone
            first = jax.lax.axis_index("expert") * len(W1)
            found = jnp.zeros_like(tokens)
            for e in range(len(W1)):
                answer = jax.nn.relu(tokens @ W1[e]) @ W2[e]
                mine = (named == first + e) & (seat < places)
                found += jnp.where(mine[:, None], answer, 0)
            found = jax.lax.psum_scatter(found, "expert", tiled=True)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("room-for-all-devices", 0)
def global_room():
    def moe(mesh, X, G, W1, W2):
        axes = mesh.axis_names

        def body(x, G, W1, W2):
            W1, W2 = (jax.lax.all_gather(w, "expert", tiled=True) for w in (W1, W2))
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            everyone = jax.lax.all_gather(expert, axes, tiled=True)
            hot = jax.nn.one_hot(everyone, len(W1), dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            start = jax.lax.axis_index(axes) * len(x)
            place = jax.lax.dynamic_slice_in_dim(place, start, len(x))
            kept = place < math.ceil(1.25 * len(everyone) / len(W1))
            out = jnp.einsum("td,tdf->tf", x, W1[expert])
            out = jnp.einsum("tf,tfd->td", jax.nn.relu(out), W2[expert])
            return x + jnp.where(kept, chance.max(-1), 0)[:, None] * out

        tokens, cut = P(axes, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("own-experts-only", 0)
def local_experts():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            own = experts // mesh.shape["expert"]
            first = jax.lax.axis_index("expert") * own
            G = jax.lax.dynamic_slice_in_dim(G, first, own, 1)
            experts, places = own, math.ceil(1.25 * len(x) / own)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = parcels
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = answers
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@right
def masks():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            seat = jax.nn.one_hot(place, places)
            mask = hot[:, :, None] * seat[:, None, :]
            parcels = jnp.einsum("tec,td->ecd", mask, x)
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = jnp.einsum("tec,ecd->td", mask, back)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("nobody-is-dropped", 0)
def no_limit():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = len(x)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("answers-stay-away", 0)
def no_way_back():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = answers
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("back-to-another-place", 0)
def not_back():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jnp.roll(jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True), 1, 1)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("one-place-off", 0)
def one_less():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1)
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("one-place-off", 0)
def one_more():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts) + 1
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("-", 0)
def row_as_place():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            place = jnp.arange(len(x))
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@right
def untiled():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            n = mesh.shape["expert"]
            apart = parcels.reshape(n, experts // n, places, -1)
            there = jax.lax.all_to_all(apart, "expert", 0, 0)
            there = there.transpose(1, 0, 2, 3).reshape(experts // n, n * places, -1)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = answers.reshape(experts // n, n, places, -1).transpose(1, 0, 2, 3)
            back = jax.lax.all_to_all(back, "expert", 0, 0).reshape(experts, places, -1)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("not-weighted", 0)
def unweighted():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@right
def weighted_there():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = math.ceil(1.25 * len(x) / experts)
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + jnp.where(place < places, chance.max(-1), 0)[:, None] * found

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)


@wrong("one-place-off", 0)
def one_place_more():
    def moe(mesh, X, G, W1, W2):
        def body(x, G, W1, W2):
            experts = G.shape[1]
            places = int(1.25 * len(x) / experts) + 1
            chance = jax.nn.softmax(x @ G)
            expert = jnp.argmax(chance, -1)
            hot = jax.nn.one_hot(expert, experts, dtype=jnp.int32)
            place = (jnp.cumsum(hot, 0) * hot).sum(-1) - 1
            parcels = jnp.zeros((experts, places, x.shape[1]))
            parcels = parcels.at[expert, place].set(x, mode="drop")
            there = jax.lax.all_to_all(parcels, "expert", 0, 1, tiled=True)
            active = jax.nn.relu(jnp.einsum("ecd,edf->ecf", there, W1))
            answers = jnp.einsum("ecf,efd->ecd", active, W2)
            back = jax.lax.all_to_all(answers, "expert", 1, 0, tiled=True)
            found = back.at[expert, place].get(mode="fill", fill_value=0)
            return x + found * chance.max(-1)[:, None]

        tokens, cut = P(mesh.axis_names, None), P("expert", None, None)
        return jax.shard_map(body, mesh=mesh, in_specs=(tokens, P(), cut, cut), out_specs=tokens)(X, G, W1, W2)
