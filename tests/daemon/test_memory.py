"""The daemon's memory is limited without breaking what it uses."""

import subprocess
import sys

from flowd.daemon.memory import limit_arenas, trim


def run(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()


def test_arenas_are_limited_and_memory_is_returned_on_any_libc() -> None:
    limit_arenas()
    trim()


def test_without_openssl_hashlib_still_has_the_digests_the_daemon_needs() -> None:
    blocked = "from flowd.daemon.memory import block_openssl; block_openssl(); "
    digests = "import hashlib; print(hashlib.blake2b(b'x').hexdigest(), hashlib.sha256(b'x').hexdigest())"
    assert run(blocked + digests) == run(digests)
    assert run(blocked + "import hashlib, sys; print('_hashlib' in sys.modules)") == "False"


def test_openssl_stays_where_hashlib_was_imported_before() -> None:
    program = (
        "import hashlib, sys; before = '_hashlib' in sys.modules; "
        "from flowd.daemon.memory import block_openssl; block_openssl(); "
        "print(before is ('_hashlib' in sys.modules))"
    )
    assert run(program) == "True"
