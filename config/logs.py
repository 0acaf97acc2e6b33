"""Logging: events as JSON in rotated files, readable on a terminal, nothing lost to a full disk."""

import logging
import logging.handlers
import sys
from collections.abc import Callable, MutableMapping
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

# structlog imports rich when it finds it, and asyncio for methods that are never awaited here; the daemon
# must not carry them. None makes an import fail, as documented; for asyncio an empty module is enough.
_left_out = {name for name in ("rich", "asyncio") if name not in sys.modules}
sys.modules.setdefault("rich", None)  # type: ignore[arg-type]  # see above
sys.modules.setdefault("asyncio", ModuleType("asyncio"))
import structlog  # noqa: E402 after the lines above, on purpose

for _name in _left_out:
    del sys.modules[_name]

from flowd.config.paths import make_private_dir  # noqa: E402 same
from flowd.config.settings import LogSettings  # noqa: E402 same

LOG_NAME = "flowd.log"


def _drop(*_: object) -> NoReturn:
    raise structlog.DropEvent


# Until logging is set up, as in a command, events go nowhere: a person's terminal is no log.
structlog.configure(processors=[_drop])
log: structlog.stdlib.BoundLogger = structlog.get_logger()
Redact = Callable[[str], str]


def set_up_logging(directory: Path, settings: LogSettings, *, console: bool, redact: Redact) -> None:
    """Send all events to rotated files in *directory* and, for people, to standard error."""
    make_private_dir(directory)
    handlers: list[logging.Handler] = [_file_handler(directory, settings)]
    if console:
        handlers.append(_console_handler())
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
        old.close()
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(settings.level.upper())
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _redactor(redact),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def set_level(settings: LogSettings) -> None:
    """Log from now on what *settings* ask for."""
    logging.getLogger().setLevel(settings.level.upper())


def _file_handler(directory: Path, settings: LogSettings) -> logging.Handler:
    file = directory / LOG_NAME
    file.touch(mode=0o600, exist_ok=True)
    handler = logging.handlers.RotatingFileHandler(
        file,
        maxBytes=int(settings.file_mb * 1_000_000),
        backupCount=settings.files_kept,
        encoding="utf-8",
        delay=True,
    )
    handler.setFormatter(_formatter(structlog.processors.JSONRenderer(ensure_ascii=False)))
    return handler


def _console_handler() -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())))
    return handler


def _formatter(renderer: Any) -> structlog.stdlib.ProcessorFormatter:
    return structlog.stdlib.ProcessorFormatter(
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
    )


def _redactor(redact: Redact) -> Any:
    def processor(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        for key, value in event.items():
            if isinstance(value, str):
                event[key] = redact(value)
        return event

    return processor
