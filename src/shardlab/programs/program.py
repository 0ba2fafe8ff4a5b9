"""Where cells look for what reads a compiled program."""

from shardlens import read_program as read_program
