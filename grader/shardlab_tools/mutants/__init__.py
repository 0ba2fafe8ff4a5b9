"""Mutation testing of the judge: right answers, each changed in one place, must be refused or be proved right.

Libraries of mutants (mutmut, cosmic-ray) start a test suite for each of them, which for JAX takes seconds, and change what
any Python program has. Here a mutant is judged in a process that has JAX loaded, and the operators know collectives.
"""
