"""The box that runs code we do not trust, from outside: mounts, limits, servers that are warm."""
