"""What Claude Code runs, as ``python -I -S -E hook.py SOCKET SPOOL [EVENT [plugin]]``.

Only a door: Python compiles a program anew each time but keeps what it imports, which saves a tenth of
the whole hook.
"""

import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/")[0])
    import program  # type: ignore[import-not-found]

    program.run()
