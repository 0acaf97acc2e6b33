"""The unit and the agent: what systemd and launchd themselves think of them."""

import importlib.metadata
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from flowd.cli.flowd.manager.launchd import LABEL, Launchd
from flowd.cli.flowd.manager.manager import Program, is_temporary, this_program
from flowd.cli.flowd.manager.systemd import Systemd
from flowd.config.paths import resolve_paths

AWKWARD = Program(
    (sys.executable, "-P", "-m", "flowd", "run"),
    {"FLOWD_DATA_DIR": '/tmp/a b/100%/"quoted"/back\\slash/<&>', "PATH": "/usr/bin:/bin"},
    Path("/tmp/a b/crash.txt"),
)


def verified(unit: Path, tmp_path: Path) -> "subprocess.CompletedProcess[str]":
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    return subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)],
        env={"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("awkward", [False, True], ids=["usual", "awkward"])
def test_systemd_finds_nothing_to_say_about_the_unit(awkward: bool, tmp_path: Path) -> None:
    unit = tmp_path / "flowd.service"
    unit.write_text(Systemd().unit_text(AWKWARD if awkward else this_program(resolve_paths())))
    run = verified(unit, tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_systemd_would_complain_about_a_wrong_unit(tmp_path: Path) -> None:
    """The check above can fail."""
    unit = tmp_path / "flowd.service"
    unit.write_text(
        Systemd().unit_text(this_program(resolve_paths())).replace("WatchdogSec=60", "WatchdogSec=often")
    )
    assert "often" in verified(unit, tmp_path).stderr


def test_the_unit_is_ready_watched_restarted_with_limits_and_friendly() -> None:
    lines = Systemd().unit_text(this_program(resolve_paths())).splitlines()
    wanted = {"Type=notify", "WatchdogSec=60", "Restart=on-failure", "StartLimitBurst=5", "UMask=0077"}
    wanted |= {"NoNewPrivileges=yes", "WantedBy=default.target", "Nice=5", "IOSchedulingClass=best-effort"}
    assert wanted <= set(lines)
    assert f"ExecStart={sys.executable} -P -m flowd run" in lines
    assert not any(line.startswith(("ProtectHome", "ProtectSystem", "PrivateTmp", "@")) for line in lines)


def test_what_systemd_would_expand_or_split_is_quoted() -> None:
    text = Systemd().unit_text(AWKWARD)
    assert 'Environment="FLOWD_DATA_DIR=/tmp/a b/100%%/\\"quoted\\"/back\\\\slash/<&>"' in text.splitlines()


def test_the_agent_has_the_keys_that_launchd_needs(private_home: Path) -> None:
    agent = plistlib.loads(Launchd().unit_text(AWKWARD).encode())
    assert agent == {
        "Label": LABEL,
        "ProgramArguments": [sys.executable, "-P", "-m", "flowd", "run"],
        "EnvironmentVariables": dict(AWKWARD.environment),
        "StandardErrorPath": "/tmp/a b/crash.txt",
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ExitTimeOut": 10,
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": 5,
        "Umask": 0o077,
    }
    assert Launchd().unit_file == private_home / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def test_what_moves_flowds_files_is_carried_and_nothing_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/c")
    monkeypatch.setenv("FLOWD_STATE_DIR", "/s")
    monkeypatch.setenv("FLOWD_DATA_DIR", "")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-1")
    monkeypatch.setenv("PATH", "/usr/bin:.:bin::/bin:/usr/bin")
    environment = this_program(resolve_paths()).environment
    assert environment == {"CLAUDE_CONFIG_DIR": "/c", "FLOWD_STATE_DIR": "/s", "PATH": "/usr/bin:/bin"}


def test_the_units_of_another_config_home_are_written_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    assert Systemd().unit_file == Path("/elsewhere/systemd/user/flowd.service")


@pytest.mark.parametrize(
    ("interpreter", "passing"),
    [
        ("/home/me/.local/share/pipx/venvs/flowd/bin/python", False),
        ("/home/me/.local/share/uv/tools/flowd/bin/python", False),
        ("/usr/bin/python3", False),
        ("/tmp/x/bin/python", True),
        ("/home/me/.cache/uv/archive-v0/abc/bin/python", True),
        ("/home/me/.local/share/pipx/.cache/abc/bin/python", True),
    ],
)
def test_an_interpreter_that_will_be_cleaned_away_is_known(interpreter: str, passing: bool) -> None:
    assert is_temporary(interpreter) is passing


def test_the_templates_are_part_of_what_is_installed() -> None:
    from importlib import resources

    assert resources.files("flowd.systemd").joinpath("flowd.service").is_file()
    assert resources.files("flowd.launchd").joinpath(f"{LABEL}.plist").is_file()
    assert importlib.metadata.version("flowd-handoff")
