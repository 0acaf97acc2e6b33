"""The five tools as a client meets them, served in this process to the official client."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]  # comes with the SDK, without stubs
import msgspec
import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, Implementation, TextContent, Tool

from flowd.bridge.server import NOTE_FOR_CODE, ThreadServer
from flowd.store.threads.threads import Threads

CODE = Implementation(name="claude-code", version="2.1.326")
MODES = ["legacy", "auto"]


def with_client(
    threads: Threads,
    use: Callable[[Client], Awaitable[Any]],
    *,
    info: Implementation | None = None,
    mode: str = "legacy",
    started_by_code: bool = False,
) -> Any:
    """Return what *use* makes of a connected client."""

    async def session() -> Any:
        async with Client(server.protocol, client_info=info, mode=mode) as client:
            return await use(client)

    with ThreadServer(threads, started_by_code=started_by_code) as server:
        return anyio.run(session)


def call(threads: Threads, tool: str, arguments: dict[str, Any], **kwargs: Any) -> CallToolResult:
    result = with_client(threads, lambda client: client.call_tool(tool, arguments), **kwargs)
    assert isinstance(result, CallToolResult)
    return result


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def structured(result: CallToolResult) -> Any:
    assert not result.is_error, text_of(result)
    return result.structured_content


def list_tools(threads: Threads) -> dict[str, Tool]:
    tools = with_client(threads, lambda client: client.list_tools()).tools
    return {tool.name: tool for tool in tools}


def test_there_are_exactly_five_tools_and_no_list_or_search(threads: Threads) -> None:
    assert list(list_tools(threads)) == [
        "create_handoff",
        "get_handoff",
        "add_to_handoff",
        "mark_handoff_read",
        "close_handoff",
    ]


@pytest.mark.parametrize(
    ("tool", "required", "optional"),
    [
        ("create_handoff", ["title", "content"], ["project", "as_client"]),
        ("get_handoff", ["id"], ["as_client"]),
        ("add_to_handoff", ["id", "type", "content"], ["as_client"]),
        ("mark_handoff_read", ["id"], ["as_client"]),
        ("close_handoff", ["id"], []),
    ],
)
def test_the_parameters_are_the_specified_ones(
    tool: str, required: list[str], optional: list[str], threads: Threads
) -> None:
    schema = list_tools(threads)[tool].input_schema
    assert schema["required"] == required
    assert list(schema["properties"]) == required + optional
    if "as_client" in optional:
        assert schema["properties"]["as_client"]["enum"] == ["chat", "code"]
        assert schema["properties"]["as_client"]["default"] == "chat"


def test_the_entry_types_are_the_specified_six(threads: Threads) -> None:
    schema = list_tools(threads)["add_to_handoff"].input_schema
    assert schema["properties"]["type"]["enum"] == [
        *("context", "task", "progress", "question", "decision", "done")
    ]


def test_every_tool_and_parameter_is_described_and_every_schema_is_valid(threads: Threads) -> None:
    for tool in list_tools(threads).values():
        assert tool.description
        assert tool.output_schema is not None
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert all("description" in each for each in tool.input_schema["properties"].values())


def test_only_close_is_destructive_and_only_get_is_read_only(threads: Threads) -> None:
    hints = {name: tool.annotations for name, tool in list_tools(threads).items()}
    assert [name for name, hint in hints.items() if hint and hint.destructive_hint] == ["close_handoff"]
    assert [name for name, hint in hints.items() if hint and hint.read_only_hint] == ["get_handoff"]


@pytest.mark.parametrize("mode", MODES)
def test_results_come_structured_and_as_the_same_json_text(mode: str, threads: Threads) -> None:
    result = call(threads, "create_handoff", {"title": "t", "content": "ünï\n"}, mode=mode)
    assert json.loads(text_of(result)) == structured(result)
    assert set(structured(result)) == {"handoff", "entries"}
    assert structured(result)["entries"][0]["content"] == "ünï\n"


def test_every_result_matches_its_published_schema(threads: Threads) -> None:
    tools = list_tools(threads)
    created = structured(
        call(threads, "create_handoff", {"title": "t", "content": "password=hunter2hunter2"})
    )
    handoff_id = created["handoff"]["id"]
    results = {
        "create_handoff": created,
        "get_handoff": structured(call(threads, "get_handoff", {"id": handoff_id}, info=CODE)),
        "add_to_handoff": structured(
            call(threads, "add_to_handoff", {"id": handoff_id, "type": "done", "content": "x"})
        ),
        "mark_handoff_read": structured(call(threads, "mark_handoff_read", {"id": handoff_id})),
        "close_handoff": structured(call(threads, "close_handoff", {"id": handoff_id})),
    }
    for name, result in results.items():
        jsonschema.validate(result, tools[name].output_schema)


def test_as_client_defaults_to_chat_and_code_is_taken(threads: Threads) -> None:
    chat = structured(call(threads, "create_handoff", {"title": "t", "content": "c"}))
    assert chat["entries"][0]["from_client"] == "chat"
    code = structured(call(threads, "create_handoff", {"title": "t", "content": "c", "as_client": "code"}))
    assert code["entries"][0]["from_client"] == "code"
    null = structured(call(threads, "create_handoff", {"title": "t", "content": "c", "as_client": None}))
    assert null["entries"][0]["from_client"] == "chat"


@pytest.mark.parametrize("mode", MODES)
def test_claude_code_without_as_client_gets_a_note_and_stays_chat(mode: str, threads: Threads) -> None:
    result = structured(call(threads, "create_handoff", {"title": "t", "content": "c"}, info=CODE, mode=mode))
    assert result["note"] == NOTE_FOR_CODE
    assert result["entries"][0]["from_client"] == "chat"


def test_the_environment_of_claude_code_brings_the_note_too(threads: Threads) -> None:
    result = call(threads, "create_handoff", {"title": "t", "content": "c"}, started_by_code=True)
    assert "note" in structured(result)


def test_nobody_else_and_no_explicit_client_gets_the_note(threads: Threads) -> None:
    desktop = Implementation(name="claude-ai", version="1")
    assert "note" not in structured(
        call(threads, "create_handoff", {"title": "t", "content": "c"}, info=desktop)
    )
    explicit = {"title": "t", "content": "c", "as_client": "chat"}
    created = structured(call(threads, "create_handoff", explicit, info=CODE))
    assert "note" not in created
    closed = call(threads, "close_handoff", {"id": created["handoff"]["id"]}, info=CODE)
    assert "note" not in structured(closed)


def test_close_lets_the_as_client_pass_that_code_sends_on_every_call(threads: Threads) -> None:
    handoff_id = threads.create(title="t", content="c", client="chat").handoff.id
    result = call(threads, "close_handoff", {"id": handoff_id, "as_client": "code"})
    assert structured(result) == {"closed": True, "id": handoff_id, "title": "t"}


def test_error_texts_reach_the_client(threads: Threads) -> None:
    missing = call(threads, "get_handoff", {"id": "hof_nope"})
    assert (missing.is_error, text_of(missing)) == (True, "Handoff 'hof_nope' not found.")
    handoff_id = threads.create(title="t", content="c", client="chat").handoff.id
    threads.close(handoff_id=handoff_id)
    late = call(threads, "add_to_handoff", {"id": handoff_id, "type": "done", "content": "x"})
    assert (late.is_error, text_of(late)) == (True, f"Handoff '{handoff_id}' is already completed.")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"id": "x", "type": "note", "content": "c"}, "type must be one of context, task"),
        (
            {"id": "x", "type": "done", "content": "c", "as_client": "me"},
            "as_client must be one of chat, code",
        ),
        ({"id": "x", "type": "done"}, "missing required field `content`"),
        ({"id": 7, "type": "done", "content": "c"}, "Expected `str`, got `int`"),
        ({"id": "x", "type": "done", "content": "c", "asClient": "code"}, "unknown field `asClient`"),
        ({}, "missing required field"),
    ],
    ids=["type", "client", "missing", "number", "unknown", "empty"],
)
def test_wrong_parameters_are_explained(arguments: dict[str, Any], says: str, threads: Threads) -> None:
    result = call(threads, "add_to_handoff", arguments)
    assert result.is_error
    assert says in text_of(result)


@pytest.mark.parametrize("mode", MODES)
def test_an_unknown_tool_is_a_protocol_error(mode: str, threads: Threads) -> None:
    async def ask(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("list_handoffs", {})
        return str(refused.value)

    assert with_client(threads, ask, mode=mode) == "Unknown tool: list_handoffs"


def test_an_oversized_entry_is_refused_with_the_limit_and_a_way_out(threads: Threads) -> None:
    result = call(threads, "create_handoff", {"title": "t", "content": "x" * 1048577})
    assert result.is_error
    assert "1,048,577 bytes, the limit is 1,048,576" in text_of(result)
    assert "split it" in text_of(result)


def test_a_secret_is_left_out_and_its_kind_said(threads: Threads) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    result = structured(call(threads, "create_handoff", {"title": "t", "content": f"use {secret} now"}))
    assert secret not in msgspec.json.encode(result).decode()
    assert result["redacted"]
    stored = threads.get(handoff_id=result["handoff"]["id"], client="code").entries[0].content
    assert stored == result["entries"][0]["content"] == f"use [redacted:{result['redacted'][0]}] now"


def test_core_db_in_trouble_is_said_to_the_client(threads: Threads) -> None:
    threads.database.close()
    threads.database.path.write_bytes(b"not a database at all, and long enough to be read as one" * 20)
    result = call(threads, "get_handoff", {"id": "hof_x"})
    assert result.is_error
    assert "core.db is encrypted or not SQLite" in text_of(result)
