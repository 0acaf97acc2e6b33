"""Warnings of this layer, as events with fields."""


def warn(event: str, **fields: object) -> None:
    """Log *event* as a warning: something is wrong, nothing is lost."""
    # Imported here: hooks import this package too, and must not pay for what they rarely use.
    import logging

    text = " ".join(f"{name}={value!r}" for name, value in fields.items())
    logging.getLogger("flowd.handoff").warning("%s %s", event, text)
