"""Pictures of what moves along a mesh axis: rings step by step, collectives, tokens."""
