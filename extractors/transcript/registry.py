"""The extractors in the order they are fed, and who tells what they remember; a later one's fields win."""

from typing import Final

from flowd.extractors.conversation import conversation
from flowd.extractors.fields import activity, blocks, files, insights, lifecycle, standing
from flowd.extractors.transcript.protocol import Describer, Extractor

EXTRACTORS: Final[tuple[Extractor, ...]] = (activity, lifecycle, conversation, blocks)
DESCRIBERS: Final[tuple[Describer, ...]] = (
    Describer(activity.NAME, activity.describe),
    Describer(lifecycle.NAME, lifecycle.describe),
    Describer(conversation.NAME, files.describe, files.reads),
    Describer(conversation.NAME, standing.describe, standing.reads),
    Describer(conversation.NAME, insights.describe, insights.reads),
    Describer(blocks.NAME, blocks.describe),
)
