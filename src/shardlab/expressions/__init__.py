"""The language of sharding expressions: text, what it parses to, and the shardings that it means."""
