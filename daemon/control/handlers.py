"""The verbs of the control socket."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from flowd import __version__
from flowd.daemon.control.report import StatusReporter
from flowd.daemon.delivery.dispatcher import Dispatcher
from flowd.system.errors import FlowdError


class ControlHandlers:
    """Answers requests from what other threads have published; never does slow work."""

    def __init__(
        self,
        reporter: StatusReporter,
        dispatcher: Dispatcher,
        reload_settings: Callable[[], str],
        collect_external: Callable[[], None],
    ) -> None:
        self._reporter = reporter
        self._dispatcher = dispatcher
        self._reload_settings = reload_settings
        self._collect_external = collect_external

    def handlers(self) -> Mapping[str, Callable[[Mapping[str, Any]], Any]]:
        """Return the function of each verb."""
        return {
            "ping": lambda _: {"pid": os.getpid(), "version": __version__},
            "status": lambda _: self._reporter.report(),
            "retry": self._retry,
            "reload": lambda _: self._reload_settings(),
            "poke": self._poke,
        }

    def _retry(self, request: Mapping[str, Any]) -> list[str]:
        wanted = request.get("sink")
        workers = self._dispatcher.workers
        if wanted is not None and wanted not in workers:
            raise FlowdError(f"there is no sink {wanted!r}", hint=f"sinks: {', '.join(workers)}")
        names = [wanted] if wanted else list(workers)
        for name in names:
            workers[name].retry()
        return names

    def _poke(self, _: Mapping[str, Any]) -> bool:
        """Collect what another process has left."""
        self._collect_external()
        return True
