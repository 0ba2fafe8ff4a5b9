"""Answers as data: what a manifest asks for is looked up, called or exported here, and judged elsewhere."""
