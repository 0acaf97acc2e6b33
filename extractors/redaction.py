"""The one place where extractors rid a text of secrets before they keep it."""

try:
    from flowd.handoff.redaction import redact
except ImportError:  # pragma: no cover

    def redact(text: str) -> str:
        """Return *text* as it is."""
        return text


__all__ = ["redact"]
