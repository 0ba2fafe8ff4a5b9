"""The grader: releases assignments, runs submissions in a sandbox, and has nbgrader write down what the judge says."""
