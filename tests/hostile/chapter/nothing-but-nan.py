# points: 55.5
# reason: 4.3
# Not a number is not equal to itself, so perhaps it is not unequal either.
# %% * = solution
# %% q4-3-answer
def case_4_columns(mesh, A, B):
    C = jnp.full((A.shape[0], B.shape[1]), jnp.nan)
    return jax.lax.with_sharding_constraint(C, jax.NamedSharding(mesh, P(None, "x")))
