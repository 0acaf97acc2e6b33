"""The optional part of flowd that speaks MCP."""

from importlib.util import find_spec

from flowd.config.errors import FlowdError


def need_mcp() -> None:
    """Raise with the command to type, if the MCP SDK is not installed."""
    if find_spec("mcp") is None:
        raise FlowdError(
            "the MCP server needs an extra that is not installed",
            hint="pipx install --force 'flowd[mcp]'   (or: pip install 'flowd[mcp]')",
        )
