"""Where notebooks and people's tests look for the lens's assertion."""

from shardlens import assert_communicates as assert_communicates
