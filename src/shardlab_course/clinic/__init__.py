"""The clinic: errors and warnings of JAX and XLA, what causes each, and how it is mended."""
