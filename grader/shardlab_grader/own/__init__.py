"""An instructor's own chapter: begun, and checked."""
