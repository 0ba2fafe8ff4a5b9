"""How many faults the suite finds: faults are planted in the code, and the tests that reach them are run.

`make test-strength` asks of the suite what `make mutants` asks of the judge. There the right answers are changed, here the
code of Shardlab.
"""
