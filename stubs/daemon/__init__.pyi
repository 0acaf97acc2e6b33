from collections.abc import Callable
from types import TracebackType
from typing import Any, TextIO

class DaemonContext:
    def __init__(
        self,
        *,
        working_directory: str = ...,
        umask: int = ...,
        detach_process: bool | None = ...,
        files_preserve: list[Any] | None = ...,
        signal_map: dict[int, Callable[..., Any] | str | None] | None = ...,
        prevent_core: bool = ...,
        stdin: TextIO | None = ...,
        stdout: TextIO | None = ...,
        stderr: TextIO | None = ...,
    ) -> None: ...
    def open(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> DaemonContext: ...
    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None: ...
