"""Pod golf: one training step on a pod that is not here, as cheap as its players can make it."""
