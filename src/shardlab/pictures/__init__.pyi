"""The pictures, each once: `__init__.py` finds them here."""

from shardlab.pictures.blocks import show_blocks as show_blocks
from shardlab.pictures.draw import show as show
from shardlab.pictures.product import show_product as show_product
from shardlens import show_collective as show_collective
from shardlens import show_ledger as show_ledger
from shardlens import show_memory as show_memory
from shardlens import show_mesh as show_mesh
from shardlens import show_ring as show_ring
from shardlens import show_roofline as show_roofline
from shardlens import show_schedule as show_schedule
from shardlens import show_tokens as show_tokens
