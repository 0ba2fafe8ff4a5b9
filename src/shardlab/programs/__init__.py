"""Where notebooks of earlier releases, and cells, look for the lens's models."""

from shardlens import alphabeta as alphabeta
