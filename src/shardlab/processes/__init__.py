"""Several JAX processes on one machine: how they are started, watched and ended, and what they tell."""
