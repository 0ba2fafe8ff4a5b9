"""Plans for contractions: what each way of doing one moves, foretold without compiling."""
