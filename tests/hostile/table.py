"""Every vector, in the order of the table."""

from tests.hostile import code, invented, links, poison, words

VECTORS = (*code.VECTORS, *poison.VECTORS, *links.VECTORS, *words.VECTORS, *invented.VECTORS)
