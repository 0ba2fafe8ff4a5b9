import jax
import jax.numpy as jnp
from jax import P, lax

from shardlab_course.answers import right, wrong


@right
def by_index():
    def poisson(mesh, density):
        n, m = density.shape

        def body(block):
            width = m // mesh.shape["x"]
            at = lax.axis_index("x") * width + jnp.arange(width)
            k1 = 2 * jnp.pi * jnp.where(at < (m + 1) // 2, at, at - m) / m
            k0 = 2 * jnp.pi * jnp.fft.fftfreq(n)
            waves = jnp.fft.fft(lax.all_to_all(jnp.fft.fft(block), "x", 1, 0, tiled=True), axis=0)
            square = k0[:, None] ** 2 + k1**2
            waves = waves * jnp.where(square > 0, -1 / jnp.where(square > 0, square, 1), 0)
            return jnp.fft.ifft(lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)).real

        return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(density)


@wrong("imaginary-part-kept", 0)
def complex_field():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = jnp.fft.fft(lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True), axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = -waves / jnp.where(square == 0, jnp.inf, square)
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("divides-by-zero", 0)
def divides_by_zero():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True)
            waves = jnp.fft.fft(waves, axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = -waves / square
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@right
def factors_cut_by_the_spec():
    def along(mesh, one, axis, spec):
        return jax.shard_map(lambda b: one(b, axis=axis), mesh=mesh, in_specs=spec, out_specs=spec)

    def poisson(mesh, density):
        rows, columns = P("x"), P(None, "x")
        k0, k1 = (2 * jnp.pi * jnp.fft.fftfreq(n) for n in density.shape)
        square = (k0[:, None] ** 2 + k1[None, :] ** 2).at[0, 0].set(jnp.inf)
        waves = along(mesh, jnp.fft.fft, 0, columns)(along(mesh, jnp.fft.fft, 1, rows)(density))
        back = along(mesh, jnp.fft.ifft, 0, columns)(-waves / square)
        return along(mesh, jnp.fft.ifft, 1, rows)(back).real


@wrong("local-index-as-global", 0)
def first_columns_everywhere():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, _):
            k1 = 2 * jnp.pi * jnp.fft.fftfreq(m)[: m // mesh.shape["x"]]
            waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True)
            waves = jnp.fft.fft(waves, axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = jnp.where(square == 0, 0, -waves / jnp.where(square == 0, 1, square))
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("goes-home-in-between", 12)
def goes_home():
    def poisson(mesh, density):
        k0, k1 = (2 * jnp.pi * jnp.fft.fftfreq(n) for n in density.shape)

        def transform(block, one):
            waves = lax.all_to_all(one(block, axis=1), "x", 1, 0, tiled=True)
            return lax.all_to_all(one(waves, axis=0), "x", 0, 1, tiled=True)

        def body(block, k0):
            waves = transform(block, jnp.fft.fft)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = jnp.where(square == 0, 0, -waves / jnp.where(square == 0, 1, square))
            return transform(waves, jnp.fft.ifft).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k0)


@wrong("half-the-waves", 0)
def half_the_waves():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = jnp.fft.fft(lax.all_to_all(jnp.fft.rfft(block, axis=1), "x", 1, 0, tiled=True), axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = -waves / jnp.where(square == 0, jnp.inf, square)
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("left-in-columns", 9)
def left_in_columns():
    def poisson(mesh, density):
        k0, k1 = (2 * jnp.pi * jnp.fft.fftfreq(n) for n in density.shape)

        def body(block, k1):
            waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True)
            waves = jnp.fft.fft(waves, axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = jnp.where(square == 0, 0, -waves / jnp.where(square == 0, 1, square))
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return lax.all_to_all(jnp.fft.ifft(waves, axis=1).real, "x", 1, 0, tiled=True)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P(None, "x"))(density, k1)


@wrong("local-index-as-global", 0)
def local_fftfreq():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, _):
            k1 = 2 * jnp.pi * jnp.fft.fftfreq(m // mesh.shape["x"])
            waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True)
            waves = jnp.fft.fft(waves, axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = jnp.where(square == 0, 0, -waves / jnp.where(square == 0, 1, square))
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("mean-kept", 0)
def mean_kept():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True)
            waves = jnp.fft.fft(waves, axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = -waves / jnp.where(square == 0, 1, square)
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@right
def mean_off_before():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = jnp.fft.fft(lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True), axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = -waves / jnp.where(square == 0, 1, square)
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density - density.mean(), k1)


@wrong("no-negative-waves", 0)
def no_negative_waves():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.arange(n) / n, 2 * jnp.pi * jnp.arange(m) / m

        def body(block, k1):
            waves = jnp.fft.fft(lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True), axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = -waves / jnp.where(square == 0, jnp.inf, square)
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("not-tiled", 0)
def not_tiled():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0)
            waves = jnp.fft.fft(waves, axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = jnp.where(square == 0, 0, -waves / jnp.where(square == 0, 1, square))
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@right
def real_waves_padded():
    def poisson(mesh, density):
        n, m = density.shape
        waves, devices = m // 2 + 1, mesh.shape["x"]
        room = -waves % devices
        k0 = 2 * jnp.pi * jnp.fft.fftfreq(n)
        k1 = jnp.pad(2 * jnp.pi * jnp.fft.rfftfreq(m), (0, room))

        def body(block, k1):
            half = jnp.pad(jnp.fft.rfft(block, axis=1), ((0, 0), (0, room)))
            half = jnp.fft.fft(lax.all_to_all(half, "x", 1, 0, tiled=True), axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            half = jnp.where(square == 0, 0, -half / jnp.where(square == 0, 1, square))
            half = lax.all_to_all(jnp.fft.ifft(half, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.irfft(half[:, :waves], n=m, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("sign-of-the-laplacian", 0)
def sign():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True)
            waves = jnp.fft.fft(waves, axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = jnp.where(square == 0, 0, waves / jnp.where(square == 0, 1, square))
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("mean-kept", 0)
def small_number():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = jnp.fft.fft(lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True), axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = -waves / (square + 1e-12)
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("stencil-wavenumbers", 0)
def stencil():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True)
            waves = jnp.fft.fft(waves, axis=0)
            square = 2 * (2 - jnp.cos(k0[:, None]) - jnp.cos(k1[None, :]))
            waves = jnp.where(square == 0, 0, -waves / jnp.where(square == 0, 1, square))
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("split-and-concat-swapped", 0)
def swapped():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 0, 1, tiled=True)
            waves = jnp.fft.fft(waves, axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = jnp.where(square == 0, 0, -waves / jnp.where(square == 0, 1, square))
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("gathers-everything", 12)
def trusts_jit():
    def poisson(mesh, density):
        k0, k1 = (2 * jnp.pi * jnp.fft.fftfreq(n) for n in density.shape)
        square = k0[:, None] ** 2 + k1[None, :] ** 2
        factor = jnp.where(square == 0, 0, -1 / jnp.where(square == 0, 1, square))
        return jnp.fft.ifft2(jnp.fft.fft2(density) * factor).real


@wrong("frequency-is-no-wavenumber", 0)
def without_pi():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = jnp.fft.fftfreq(n), jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True)
            waves = jnp.fft.fft(waves, axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = jnp.where(square == 0, 0, -waves / jnp.where(square == 0, 1, square))
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("zeroed-on-every-device", 0)
def zeroed_everywhere():
    def poisson(mesh, density):
        n, m = density.shape
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def body(block, k1):
            waves = jnp.fft.fft(lax.all_to_all(jnp.fft.fft(block, axis=1), "x", 1, 0, tiled=True), axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = (-waves / jnp.where(square == 0, 1, square)).at[0, 0].set(0)
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("-", 12)
def gathered_for_the_mean():
    """What half the waves save is no room for a gather."""

    def poisson(mesh, density):
        n, m = density.shape
        waves, devices = m // 2 + 1, mesh.shape["x"]
        room = -waves % devices
        k0 = 2 * jnp.pi * jnp.fft.fftfreq(n)
        k1 = jnp.pad(2 * jnp.pi * jnp.fft.rfftfreq(m), (0, room))

        def body(block, k1):
            block = block - lax.all_gather(block.mean(1), "x", tiled=True).mean()
            half = jnp.pad(jnp.fft.rfft(block, axis=1), ((0, 0), (0, room)))
            half = jnp.fft.fft(lax.all_to_all(half, "x", 1, 0, tiled=True), axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            half = -half / jnp.where(square == 0, jnp.inf, square)
            half = lax.all_to_all(jnp.fft.ifft(half, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.irfft(half[:, :waves], n=m, axis=1)

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@right
def exchanged_by_hops():
    """Blocks of the columns go to their devices one hop after another."""

    def poisson(mesh, density):
        n, m = density.shape
        devices = mesh.shape["x"]
        k0, k1 = 2 * jnp.pi * jnp.fft.fftfreq(n), 2 * jnp.pi * jnp.fft.fftfreq(m)

        def exchanged(parts):
            """Part d goes to device d, and comes back as part of the device that sent it."""
            me = lax.axis_index("x")
            own = jnp.roll(parts, -me, axis=0)
            found = [own[0]]
            for hop in range(1, devices):
                found.append(lax.ppermute(own[hop], "x", [(d, (d + hop) % devices) for d in range(devices)]))
            return jnp.roll(jnp.stack(found)[::-1], me + 1, axis=0)

        def body(block, k1):
            rows, columns = n // devices, m // devices
            waves = jnp.fft.fft(block).reshape(rows, devices, columns).swapaxes(0, 1)
            waves = jnp.fft.fft(exchanged(waves).reshape(n, columns), axis=0)
            square = k0[:, None] ** 2 + k1**2
            waves = jnp.fft.ifft(-waves / jnp.where(square == 0, jnp.inf, square), axis=0)
            back = exchanged(waves.reshape(devices, rows, columns)).swapaxes(0, 1)
            return jnp.fft.ifft(back.reshape(rows, m)).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)


@wrong("cut-and-whole", 0)
def columns_before_and_after():
    def poisson(mesh, density):
        k0, k1 = (2 * jnp.pi * jnp.fft.fftfreq(n) for n in density.shape)

        def body(block, k1):
            waves = jnp.fft.fft(lax.all_to_all(jnp.fft.fft(block, axis=0), "x", 1, 0, tiled=True), axis=0)
            square = k0[:, None] ** 2 + k1[None, :] ** 2
            waves = -waves / jnp.where(square == 0, jnp.inf, square)
            waves = lax.all_to_all(jnp.fft.ifft(waves, axis=0), "x", 0, 1, tiled=True)
            return jnp.fft.ifft(waves, axis=1).real

        return jax.shard_map(body, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))(density, k1)
