"""The grader: releases assignments, runs submissions in a sandbox, and has nbgrader write down what the judge says."""

import sys

# jsonschema, by which nbformat checks notebooks, reads a grammar of addresses when it is imported: a second, half of the
# grader's start. No notebook's schema asks for it, and jsonschema does without where it is not installed.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
