"""The one place where extractors rid a text of secrets before they keep it."""

from flowd.handoff.redaction import redact as redact
