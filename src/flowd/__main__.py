"""``python -m flowd`` is the ``flowd`` command."""

from flowd.cli.flowd import main

if __name__ == "__main__":
    raise SystemExit(main())
