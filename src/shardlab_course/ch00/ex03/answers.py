from shardlab_course.answers import right, wrong


@wrong("a-turned-into-columns", 1.5)
def a_in_columns():
    """A is cut into columns."""
    import jax
    from jax.sharding import NamedSharding

    P = jax.P

    def product(mesh, A, B):
        A = jax.lax.with_sharding_constraint(A, NamedSharding(mesh, P(None, "x")))
        return A @ B


@wrong("b-cut-and-gathered", 2.5)
def b_in_rows():
    """B is cut into rows."""
    import jax
    from jax.sharding import NamedSharding

    P = jax.P

    def product(mesh, A, B):
        B = jax.lax.with_sharding_constraint(B, NamedSharding(mesh, P("x", None)))
        return A @ B


@right
def by_hand():
    """In shard_map."""
    import jax

    P = jax.P

    def product(mesh, A, B):
        rows = P("x", None)
        body = jax.shard_map(lambda a, b: a @ b, mesh=mesh, in_specs=(rows, P()), out_specs=rows)
        return body(A, B)


@wrong("gathers-to-be-safe", 1.5)
def careful():
    """As it was given."""
    import jax
    from jax.sharding import NamedSharding

    P = jax.P

    def product(mesh, A, B):
        A = jax.lax.with_sharding_constraint(A, NamedSharding(mesh, P()))
        return A @ B


@wrong("cut-the-other-way", 2)
def columns():
    """C in columns."""
    import jax
    from jax.sharding import NamedSharding

    P = jax.P

    def product(mesh, A, B):
        return jax.lax.with_sharding_constraint(A @ B, NamedSharding(mesh, P(None, "x")))


@right
def constrained_to_rows():
    """A constraint that says what is so."""
    import jax
    from jax.sharding import NamedSharding

    P = jax.P

    def product(mesh, A, B):
        C = A @ B
        return jax.lax.with_sharding_constraint(C, NamedSharding(mesh, P("x", None)))


@wrong("gathers-to-be-safe", 1.5)
def copies_at_the_end():
    """The constraint moved to the end."""
    import jax
    from jax.sharding import NamedSharding

    P = jax.P

    def product(mesh, A, B):
        return jax.lax.with_sharding_constraint(A @ B, NamedSharding(mesh, P()))


@right
def einsum():
    """An einsum."""
    import jax.numpy as jnp

    def product(mesh, A, B):
        return jnp.einsum("ij,jk->ik", A, B)


@wrong("expected-for-got", 2.6)
def expected_for_got():
    """The upper line is read."""
    report = {"values": "yes", "copies": 1, "moved": 0, "times": 8, "hint": 2}


@wrong("flops-not-divided", 2.8)
def flops_not_divided():
    """The FLOPs themselves."""
    report = {"values": "yes", "copies": 8, "moved": 8192, "times": 65536, "hint": 2}


@wrong("gathers-and-cuts", 2.5)
def gathers_and_cuts():
    """All of A is asked for, then C in rows."""
    import jax
    from jax.sharding import NamedSharding

    P = jax.P

    def product(mesh, A, B):
        A = jax.lax.with_sharding_constraint(A, NamedSharding(mesh, P()))
        return jax.lax.with_sharding_constraint(A @ B, NamedSharding(mesh, P("x", None)))


@right
def transposed_twice():
    """Through the transposes."""

    def product(mesh, A, B):
        return (B.T @ A.T).T


@wrong("values-blamed", 2.8)
def values_blamed():
    """The report is read as if values were wrong."""
    report = {"values": "no", "copies": 8, "moved": 8192, "times": 8, "hint": 2}


@wrong("-", 2.5)
def work_in_a_loop():
    """Twenty products, of which one is kept: the arithmetic hides in a loop."""
    import jax

    def product(mesh, A, B):
        return jax.lax.fori_loop(0, 20, lambda i, s: (s[0] + 0 * s[0], s[0] @ B), (A, A @ B))[1]


@wrong("-", 2.5)
def c_columns_then_rows():
    import jax
    from jax.sharding import NamedSharding

    P = jax.P

    def product(mesh, A, B):
        C = jax.lax.with_sharding_constraint(A @ B, NamedSharding(mesh, P(None, "x")))
        return jax.lax.with_sharding_constraint(C, NamedSharding(mesh, P("x", None)))


@wrong("product-gathered", 2)
def manual_gather_c():
    import jax

    P = jax.P

    def product(mesh, A, B):
        def body(a, b):
            return jax.lax.all_gather(a @ b, "x", tiled=True, to="invarying")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P()), out_specs=P())(A, B)
