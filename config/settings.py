"""Load the settings: defaults.yaml, overridden by config.yaml, validated key by key."""

import difflib
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import msgspec

from flowd.config.settings_text import read_text, read_yaml, wanted
from flowd.model.session import AutomaticTrigger, Trigger
from flowd.system.errors import SettingsError
from flowd.system.regex_cost import UnsafePatternError, compile_all

Positive = Annotated[float, msgspec.Meta(gt=0)]
Patterns = Annotated[tuple[str, ...], msgspec.Meta(description="regular expressions")]
Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


class ClaudeSettings(msgspec.Struct, frozen=True):
    """Where Claude Code keeps its files."""

    config_dir: str | None


class StoreSettings(msgspec.Struct, frozen=True):
    """Where core.db is."""

    path: str | None


class WatchSettings(msgspec.Struct, frozen=True):
    """How changes are noticed."""

    reconcile_s: Positive
    poll_s: Positive
    most_watches: Count


class HandoffYamlSettings(msgspec.Struct, frozen=True):
    """Which projects get a handoff.yaml, and how often it is written."""

    projects: Literal["all", "opted_in", "none"]
    fresh_days: Positive
    debounce_s: Annotated[float, msgspec.Meta(ge=0)]


class HandoffMarkdownSettings(msgspec.Struct, frozen=True):
    """Which checkpoints leave an automatic handoff in ~/.claude/handoffs."""

    triggers: tuple[AutomaticTrigger, ...]


class IdleSettings(msgspec.Struct, frozen=True):
    """When a session counts as idle."""

    after_minutes: Annotated[float, msgspec.Meta(ge=0)]


class InjectSettings(msgspec.Struct, frozen=True):
    """Which starting sessions get a briefing, and how long it may be."""

    budget_bytes: Annotated[int, msgspec.Meta(ge=200, le=10_000)]
    headless: bool


class TaskSettings(msgspec.Struct, frozen=True):
    """Where a project keeps task files with structured handoff blocks."""

    globs: tuple[str, ...]


class SinkSettings(msgspec.Struct, frozen=True):
    """How deliveries are retried."""

    retry_first_s: Positive
    retry_most_s: Positive
    quarantine_after: Annotated[int, msgspec.Meta(ge=1)]
    drain_s: Annotated[float, msgspec.Meta(ge=0, le=60)]


class BeadsSettings(msgspec.Struct, frozen=True):
    """Which Beads issue gets a note, and when."""

    enabled: bool
    program: str | None
    issue: str | dict[str, str] | None
    triggers: tuple[Trigger, ...]
    timeout_s: Positive


class ConductorSettings(msgspec.Struct, frozen=True):
    """Handoffs in the tracks of projects that have a conductor directory."""

    enabled: bool
    parallel: Literal["wait", "include", "cancel"]
    parallel_wait_s: Annotated[float, msgspec.Meta(ge=0, le=600)]


class AgentMailSettings(msgspec.Struct, frozen=True):
    """Where handoffs are mailed to; nowhere without a url and a recipient."""

    url: str | None
    token_file: str | None
    project: str | None
    agent: str | None
    recipient: str | None


class ServeSettings(msgspec.Struct, frozen=True):
    """The MCP server over HTTP."""

    enabled: bool
    host: str
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)]
    requests_per_minute: Annotated[int, msgspec.Meta(ge=1)]
    allowed_hosts: tuple[str, ...]


class ModelSettings(msgspec.Struct, frozen=True):
    """Which program words the summaries of works once the person agrees to it, and its hard caps."""

    command: tuple[str, ...] | None
    name: str
    tokens_per_day: Count
    usd_per_day: Amount
    tokens_per_work: Count
    usd_per_work: Amount
    usd_per_call: Amount
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=600)]


class RedactionSettings(msgspec.Struct, frozen=True):
    """What counts as a secret beyond the built-in patterns."""

    patterns: Patterns


class LogSettings(msgspec.Struct, frozen=True):
    """What is logged, and how much of it is kept."""

    level: Literal["debug", "info", "warning", "error"]
    file_mb: Positive
    files_kept: Count


class Settings(msgspec.Struct, frozen=True):
    """All settings."""

    claude: ClaudeSettings
    store: StoreSettings
    watch: WatchSettings
    handoff_yaml: HandoffYamlSettings
    handoff_markdown: HandoffMarkdownSettings
    idle: IdleSettings
    inject: InjectSettings
    tasks: TaskSettings
    sinks: SinkSettings
    beads: BeadsSettings
    conductor: ConductorSettings
    agent_mail: AgentMailSettings
    serve: ServeSettings
    model: ModelSettings
    redaction: RedactionSettings
    log: LogSettings


class LoadedSettings(msgspec.Struct, frozen=True):
    """The settings, and for each dotted key the file its value comes from."""

    settings: Settings
    origins: dict[str, str]


def load_settings(config_file: Path) -> LoadedSettings:
    """Return the defaults overridden by *config_file*, or raise SettingsError naming the culprit."""
    return parse_settings(read_text(config_file), str(config_file))


def parse_settings(text: str, name: str) -> LoadedSettings:
    """Return the defaults overridden by *text*, the content of the file *name*."""
    values = read_yaml(_defaults_text(), "defaults.yaml")
    origins = dict.fromkeys(_dotted_keys(values), "default")
    _override(values, read_yaml(text, name), name, origins)
    try:
        return LoadedSettings(msgspec.convert(values, Settings), origins)
    except msgspec.ValidationError as error:
        # The keys were checked one by one above; only the shipped defaults can still be wrong.
        raise SettingsError(f"defaults.yaml is damaged: {error}", hint="reinstall flowd") from error


def dotted_items(settings: Settings) -> list[tuple[str, Any]]:
    """Return every setting as (dotted key, value), in the order of defaults.yaml."""
    return [
        (f"{section}.{key}", value)
        for section, fields in msgspec.to_builtins(settings).items()
        for key, value in fields.items()
    ]


def _defaults_text() -> str:
    return resources.files("flowd.config").joinpath("defaults.yaml").read_text(encoding="utf-8")


def _dotted_keys(values: dict[str, Any]) -> list[str]:
    return [f"{section}.{key}" for section, fields in values.items() for key in fields]


def _override(values: dict[str, Any], theirs: dict[str, Any], file: str, origins: dict[str, str]) -> None:
    for section, fields in theirs.items():
        if section not in values:
            raise _unknown_key(file, str(section), fields, list(values) + list(origins))
        if fields is None:
            continue
        if not isinstance(fields, dict):
            raise SettingsError(f"{file}: {section}: {fields!r} is not a mapping of settings")
        for key, value in fields.items():
            dotted = f"{section}.{key}"
            if dotted not in origins:
                raise _unknown_key(file, dotted, value, list(origins))
            values[section][key] = _checked(file, section, key, value)
            origins[dotted] = file


def _checked(file: str, section: str, key: str, value: Any) -> Any:
    struct = get_type_hints(Settings)[section]
    kind = get_type_hints(struct, include_extras=True)[key]
    try:
        msgspec.convert(value, kind)
        if kind is Patterns:
            compile_all(value)
    except (msgspec.ValidationError, UnsafePatternError) as error:
        why = str(error) if isinstance(error, UnsafePatternError) else f"it must be {wanted(kind)}"
        raise SettingsError(
            f"{file}: {section}.{key}: {value!r} is not valid: {why}",
            hint=f"`flowd config set {section}.{key} VALUE` sets it; `flowd config --defaults` explains it",
        ) from error
    return value


def _unknown_key(file: str, key: str, value: Any, known: list[str]) -> SettingsError:
    nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.4)
    return SettingsError(
        f"{file}: unknown key {key} (value {value!r})",
        hint=f"did you mean {nearest[0]}?" if nearest else "`flowd config --defaults` lists all keys",
    )


class LiveSettings:
    """The current settings; ``reload`` replaces them all, or none when the file is wrong."""

    def __init__(self, config_file: Path) -> None:
        self.config_file = config_file
        self._read_at = _version_of(config_file)
        self._loaded = load_settings(config_file)

    @property
    def current(self) -> Settings:
        """The settings as of now; keep the returned object for one operation only."""
        return self._loaded.settings

    @property
    def loaded(self) -> LoadedSettings:
        """The settings with the source of each."""
        return self._loaded

    def reload(self) -> None:
        """Read the file again; raise SettingsError and keep the old settings when it is wrong."""
        self._read_at = _version_of(self.config_file)
        self._loaded = load_settings(self.config_file)

    def is_outdated(self) -> bool:
        """Return True if the file has changed since it was last read, valid or not."""
        return _version_of(self.config_file) != self._read_at


def _version_of(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
