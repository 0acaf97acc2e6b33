"""Settings that may change while flowd runs: one place to ask, swapped as a whole."""

from pathlib import Path

from flowd.config.settings import LoadedSettings, Settings, load_settings


class LiveSettings:
    """The settings in force; ``reload`` replaces them all, or none when the file is wrong."""

    def __init__(self, config_file: Path) -> None:
        self.config_file = config_file
        self._loaded = load_settings(config_file)

    @property
    def current(self) -> Settings:
        """The settings as of now; hold on to them for one piece of work only."""
        return self._loaded.settings

    @property
    def loaded(self) -> LoadedSettings:
        """The settings with where each comes from."""
        return self._loaded

    def reload(self) -> None:
        """Read the file again; raise SettingsError and keep the old settings when it is wrong."""
        self._loaded = load_settings(self.config_file)
