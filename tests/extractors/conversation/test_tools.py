"""What shell commands do to the work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.extractors.conversation import tools


@pytest.mark.parametrize(
    ("command", "check"),
    [
        ("cd app && .venv/bin/pytest -q tests", "pytest"),
        ("go test ./... 2>&1 | tail", "go test"),
        ("npm run test:unit", "npm run test:unit"),
        ("mise run lint", "mise run lint"),
        ("./gradlew check", "gradlew check"),
        ("cat tests/test_cart.py", ""),
        ("echo latest", ""),
    ],
)
def test_checks_are_told_from_other_commands(command: str, check: str) -> None:
    """Runs of tests and linters, however they are started."""
    assert tools.check_in(command) == check


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ('git commit -m "Sort carts"', "Sort carts"),
        ("git commit -am 'Sort carts' && git push", "Sort carts"),
        (
            "git commit -m \"$(cat <<'EOF'\nSort carts\n\nBy price.\n\nCo-Authored-By: A <a@b.org>\nEOF\n)\"",
            "Sort carts\n\nBy price.",
        ),
        ("git commit --amend --no-edit", ""),
    ],
)
def test_a_commits_message_is_read_without_its_trailers(command: str, message: str) -> None:
    """From quotes and from here-documents."""
    assert tools.commit_message(command) == message


def test_gits_report_names_branch_hash_and_subject() -> None:
    """As git prints it."""
    assert tools.created_commit("[carts 1a2b3c4] Sort carts\n 1 file") == ("carts", "1a2b3c4", "Sort carts")
    assert tools.created_commit("nothing to commit") is None


@pytest.mark.parametrize(
    ("command", "commits"),
    [
        ("git add -A && git commit -m x", True),
        ("git -c user.name='A B' commit -m x", True),
        ("git log --grep commit", False),
        ("git show commit", False),
    ],
)
def test_commits_are_told_from_other_commands(command: str, commits: bool) -> None:
    """Only what makes one."""
    assert tools.commits(command) is commits


def test_files_written_and_removed_are_named() -> None:
    """Here-documents, edits in place, rm."""
    assert tools.written_files("cat > src/a.py <<'EOF'\nx\nEOF") == ["src/a.py"]
    assert tools.written_files("cat <<EOF >> b.py\nx\nEOF") == ["b.py"]
    assert tools.written_files("sed -i 's/a/b/' c.py && ls") == ["c.py"]
    assert tools.written_files("sed -i '' 's|a|b|g' c.py d.go") == ["c.py", "d.go"]
    assert tools.written_files("sed -i -e 's/a/b/' \\\n -e 's/c/d/' c.py") == ["c.py"]
    assert tools.written_files("grep -rl a . | xargs sed -i 's/a/b/'") == []
    assert tools.written_files("grep -i a b.py") == []
    assert tools.written_files("go test > out.txt") == []
    assert tools.removed_files("rm -f src/a.py 'b.py' && ls") == ["src/a.py", "b.py"]
    assert tools.directory("cd /srv/shop && ls") == "/srv/shop"


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        (b"ok  shop/cart 0.1s", False),
        (b"3 passed, 0 failed", False),
        (b"1 failed, 3 passed", True),
        (b"--- FAIL: TestTotal", True),
        (b"Traceback (most recent call last)", True),
    ],
)
def test_a_failure_is_seen_in_the_output(output: bytes, failed: bool) -> None:
    """Counts of nothing are no failure."""
    assert tools.looks_failed(output) is failed


@given(st.text(max_size=200))
def test_any_command_can_be_read(command: str) -> None:
    """No command makes the readers raise."""
    tools.commit_message(command)
    tools.written_files(command)
    tools.removed_files(command)
    tools.check_in(command)
