# points: 55.5
# reason: 4.3
# Multiplies on one device and then puts the product where it should lie.
# %% * = solution
# %% q4-3-answer
def on_one(mesh, A, B, spec):
    one = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    C = jax.device_put(A, one) @ jax.device_put(B, one)
    return jax.device_put(C, jax.NamedSharding(mesh, spec))


def case_4_columns(mesh, A, B):
    return on_one(mesh, A, B, P(None, "x"))
