"""nbgrader's configuration for a Shardlab course; a copy lies in each course directory."""

from shardlab_grader.nbgrader_plugin import configure

configure(get_config())  # noqa: F821 (nbgrader defines get_config)
