"""nbgrader's side: its configuration, gradebook and feedback pages."""
