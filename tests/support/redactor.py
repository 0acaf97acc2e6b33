"""The redactor of a process, with the patterns of a test."""

import tempfile
from pathlib import Path

import msgspec

from flowd.config.settings import LiveSettings
from flowd.redaction.live import LiveRedactor


def live_redactor(*patterns: str) -> LiveRedactor:
    """Return a redactor whose settings have these ``redaction.patterns``."""
    with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
        file.write(msgspec.json.encode({"redaction": {"patterns": patterns}}))  # JSON is YAML
        file.flush()
        return LiveRedactor(LiveSettings(Path(file.name)))
