"""Releasing an assignment: its seed, its manifests and its references."""
