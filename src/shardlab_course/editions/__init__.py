"""Editions of a chapter, all made from its one source."""
