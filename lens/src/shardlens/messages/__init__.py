"""What JAX and XLA say when something goes wrong, in one table: how it is known, what it means, and how to mend it."""
