"""The extractors in feeding order, and the describers of their memories; later fields override earlier."""

from typing import Final

from flowd.extractors.conversation import conversation
from flowd.extractors.fields import activity, blocks, evidence, files, insights, lifecycle, overview
from flowd.extractors.transcript.protocol import Describer, Extractor

EXTRACTORS: Final[tuple[Extractor, ...]] = (activity, lifecycle, conversation, blocks)
DESCRIBERS: Final[tuple[Describer, ...]] = (
    Describer(activity.NAME, activity.describe),
    Describer(lifecycle.NAME, lifecycle.describe),
    Describer(conversation.NAME, files.describe, files.reads),
    Describer(conversation.NAME, overview.describe, overview.reads),
    Describer(conversation.NAME, insights.describe, insights.reads),
    Describer(conversation.NAME, evidence.describe, evidence.reads),
    Describer(blocks.NAME, blocks.describe),
)
