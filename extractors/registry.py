"""The extractors, in the order they are asked; a later one's fields win."""

from typing import Final

from flowd.extractors import activity, blocks, conversation, lifecycle
from flowd.extractors.protocol import Extractor

EXTRACTORS: Final[tuple[Extractor, ...]] = (activity, lifecycle, conversation, blocks)
