"""The name of a project's handoff directory: its physical path, made safe for one file name."""

import os
import re

from flowd.handoff.errors import HandoffError

# What file systems take as one name; some (encrypted ones) take less and say so themselves.
LONGEST_NAME_BYTES = 255
_UNSAFE = re.compile(r"[^a-zA-Z0-9-]")
_UNSAFE_V1 = re.compile(r"[/.]")


class HandoffNameError(HandoffError, ValueError):
    """The encoded path is longer than any file name may be."""


def encode_path(path: str) -> str:
    """Return *path* with every character but letters, digits and ``-`` replaced by ``-``.

    Several paths share one result, so it is never decoded.
    """
    return _UNSAFE.sub("-", path)


def encode_path_v1(path: str) -> str:
    """Return the name that the first version of the contract gave: only ``/`` and ``.`` replaced."""
    return _UNSAFE_V1.sub("-", path)


def directory_name(working_directory: str) -> str:
    """Return the name of the handoff directory for *working_directory*, symbolic links resolved."""
    physical = os.path.realpath(working_directory)
    name = encode_path(physical)
    if len(name) > LONGEST_NAME_BYTES:
        raise HandoffNameError(
            f"the handoff directory of {physical} would have a name of {len(name)} bytes; "
            f"{LONGEST_NAME_BYTES} are possible",
            hint="what is known stays in core.db (`flow show`); a shorter path would have a directory",
        )
    return name


def is_v1_name(name: str) -> bool:
    """Say whether *name* can only come from the first version of the contract."""
    return name.startswith("-") and encode_path(name) != name
