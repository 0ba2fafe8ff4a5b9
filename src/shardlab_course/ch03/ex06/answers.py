import jax

from shardlab_course.answers import right, wrong

P = jax.P


@right
def by_hand():
    def steps(mesh, x, rows, columns):
        def body(x, rows, columns):
            scale = rows.shape[1] ** -0.5
            for _ in range(3):
                x = rows @ jax.lax.psum(columns @ x, "x") * scale**2
            return x

        specs = P("x", None), P("x", None), P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(x, rows, columns)


@wrong("columns-only", 5)
def columns_only():
    def steps(mesh, x, rows, columns):
        cut = jax.NamedSharding(mesh, P("x", None))
        for _ in range(6):
            x = jax.lax.with_sharding_constraint(columns @ x * len(rows) ** -0.5, cut)
        return x


@wrong("one-step-too-few", 0)
def five_divisions():
    def steps(mesh, x, rows, columns):
        for _ in range(3):
            x = rows @ (columns @ x) / len(rows)
        return x * len(rows) ** 0.5


@wrong("brought-together-at-the-end", 2.5)
def left_whole():
    def steps(mesh, x, rows, columns):
        for _ in range(3):
            x = rows @ (columns @ x) / len(rows)
        return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P()))


@right
def loop():
    def steps(mesh, x, rows, columns):
        scale = len(rows) ** -0.5
        return jax.lax.fori_loop(0, 3, lambda _, x: scale * (rows @ (scale * (columns @ x))), x)


@wrong("matrix-brought", 5)
def matrix_brought():
    def steps(mesh, x, rows, columns):
        here = jax.NamedSharding(mesh, P())
        W = jax.lax.with_sharding_constraint(rows, here)
        x = jax.lax.with_sharding_constraint(x, here)
        for _ in range(6):
            x = W @ x / rows.shape[1] ** 0.5
        return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P("x", None)))


@wrong("rows-before-columns", 5)
def rows_first():
    def steps(mesh, x, rows, columns):
        cut = jax.NamedSharding(mesh, P("x", None))
        for _ in range(3):
            x = columns @ (rows @ x) / len(rows)
        return jax.lax.with_sharding_constraint(x, cut)


@wrong("rows-only", 5)
def rows_only():
    def steps(mesh, x, rows, columns):
        for _ in range(6):
            x = rows @ x * len(rows) ** -0.5
        return x


@wrong("meets-in-every-step", 5)
def scattered():
    def steps(mesh, x, rows, columns):
        def body(x, columns):
            for _ in range(6):
                x = jax.lax.psum_scatter(columns @ x, "x", tiled=True) * columns.shape[0] ** -0.5
            return x

        specs = P("x", None), P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(x, columns)


@wrong("one-step-too-few", 0)
def four_steps():
    """A round of two steps is missing."""

    def steps(mesh, x, rows, columns):
        for _ in range(2):
            x = rows @ (columns @ x) / len(rows)
        return x


@wrong("one-step-too-few", 0)
def five_steps():
    """A step is missing at the end."""

    def steps(mesh, x, rows, columns):
        scale = len(rows) ** -0.5
        for _ in range(2):
            x = scale * (rows @ (scale * (columns @ x)))
        return scale * (rows @ x)


@wrong("matrix-brought", 5)
def matrix_in_every_step():
    """W is brought six times, by all-gathers alone."""

    def steps(mesh, x, rows, columns):
        def body(x, rows, columns):
            scale = rows.shape[1] ** -0.5
            mine = x.shape[0] * jax.lax.axis_index("x")
            whole = jax.lax.all_gather(x, "x", tiled=True)
            for _ in range(6):
                whole = scale * (jax.lax.all_gather(rows + 0 * whole[0, 0], "x", tiled=True) @ whole)
            return jax.lax.dynamic_slice_in_dim(whole, mine, x.shape[0])

        specs = P("x", None), P("x", None), P(None, "x")
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(x, rows, columns)


@wrong("matrix-brought", 5)
def power():
    def steps(mesh, x, rows, columns):
        scale = len(rows) ** -0.5
        m = rows @ columns
        m3 = m @ m @ m
        return m3 @ x * scale**6


@wrong("gathered-between", 5)
def cut_after_each_step():
    def steps(mesh, x, rows, columns):
        cut = jax.NamedSharding(mesh, P("x", None))
        for _ in range(3):
            x = jax.lax.with_sharding_constraint(columns @ x * len(rows) ** -0.5, cut)
            x = jax.lax.with_sharding_constraint(rows @ x * len(rows) ** -0.5, cut)
        return x


@wrong("gathered-between", 5)
def cut_after_each_step_in_a_loop():
    def steps(mesh, x, rows, columns):
        cut = jax.NamedSharding(mesh, P("x", None))

        def two(x, _):
            x = jax.lax.with_sharding_constraint(columns @ x * len(rows) ** -0.5, cut)
            return jax.lax.with_sharding_constraint(rows @ x * len(rows) ** -0.5, cut), None

        return jax.lax.scan(two, x, length=3)[0]


@wrong("one-round-a-step", 5)
def columns_first_one_round_a_step():
    def steps(mesh, x, rows, columns):
        def step(i, x):
            product = jax.lax.cond(i % 2 == 0, lambda x: columns @ x, lambda x: rows @ x, x)
            return product / len(rows) ** 0.5

        x = jax.lax.fori_loop(0, 6, step, x)
        return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P("x", None)))


@wrong("one-round-a-step", 5)
def a_matrix_chosen_in_each_round():
    def steps(mesh, x, rows, columns):
        def step(i, x):
            return jax.numpy.where(i % 2 == 0, columns @ x, rows @ x) / len(rows) ** 0.5

        return jax.lax.fori_loop(0, 6, step, x)


@wrong("rows-before-columns", 5)
def gathered_first():
    def steps(mesh, x, rows, columns):
        x = jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P()))
        for _ in range(3):
            x = rows @ (columns @ x) / len(rows)
        return x
