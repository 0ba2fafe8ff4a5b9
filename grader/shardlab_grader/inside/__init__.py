"""What runs in the box: the first process, the fork server, the runner of notebooks and the judge."""
