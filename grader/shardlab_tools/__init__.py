"""For those who keep the course: judging mutants, other machines and versions, its address. Not in the wheel."""
