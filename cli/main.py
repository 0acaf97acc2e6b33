"""Run a command: find the verb given, run it, report every error in one clear line."""

import os
import sys
from collections.abc import Sequence

from flowd.cli.output import OutputError, print_json, visible_output
from flowd.cli.parser import Command, UsageError, did_you_mean, parse
from flowd.system.errors import FlowdError, NotRunningError, error_of_system

EXIT_COULD_NOT = 1
EXIT_USAGE = 2
EXIT_NOT_RUNNING = 3
EXIT_BUG = 70
EXIT_INTERRUPTED = 130
EXIT_CODES: dict[type[FlowdError], int] = {UsageError: EXIT_USAGE, NotRunningError: EXIT_NOT_RUNNING}


def run_command(command: Command, argv: Sequence[str] | None = None) -> int:
    """Run *command* with *argv*, and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with visible_output():
        return _run(command, arguments)


def _run(command: Command, arguments: list[str]) -> int:
    try:
        code = _run_verb(command, _without_directory(command.prog, arguments))
        sys.stdout.flush()
    except OutputError as error:
        _discard_output()
        return _could_not(command.prog, error, as_json=False)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`), which is not an error.
        _discard_output()
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 the top of the process: the error is reported
        expected = error if isinstance(error, FlowdError) else error_of_system(error)
        if expected is None:
            return _bug(command.prog, arguments, error)
        return _could_not(command.prog, expected, as_json="--json" in arguments)
    return code


def _without_directory(prog: str, arguments: list[str]) -> list[str]:
    """Change into the directory of a leading ``-C DIR``, and return the arguments after it."""
    if not arguments or not arguments[0].startswith("-C"):
        return arguments
    attached = arguments[0][2:]
    rest = arguments[1:] if attached else arguments[2:]
    directory = attached or "".join(arguments[1:2])
    if not directory:
        raise UsageError("-C needs a directory", hint=f"try: {prog} -C DIR VERB")
    try:
        os.chdir(directory)
    except OSError as error:
        raise FlowdError(
            f"cannot change into {directory}: {error.strerror}", hint="give -C an existing directory"
        ) from error
    os.environ["PWD"] = os.path.abspath(directory)  # noqa: PTH100 as a shell sets it: links stay
    return rest


def _run_verb(command: Command, arguments: list[str]) -> int:
    if not arguments:
        return _run_default(command)
    first, *rest = arguments
    if first == "help":
        arguments = [*(word for word in rest if not word.startswith("-")), "--help"]
        first = arguments[0]
    if not first.startswith("-") and first not in command.verbs:
        raise _unknown_verb(command, first)
    chosen = parse(command, arguments)
    if not hasattr(chosen, "run"):  # a verb with operations, without one of them
        chosen.verb_parser.print_help()
        return 0
    code: int = chosen.run(chosen)
    return code


def _run_default(command: Command) -> int:
    """Run the default verb; where it cannot, print the help."""
    if command.default:
        try:
            chosen = parse(command, [command.default])
            code: int = chosen.run(chosen)
        except FlowdError as error:
            print(f"{command.prog}: {error}\n", file=sys.stderr)
        else:
            print(f"\nall commands: {command.prog} help")
            return code
    parse(command, ["--help"])
    raise AssertionError("--help exits")


def _unknown_verb(command: Command, word: str) -> UsageError:
    from flowd.cli import flow, flowd

    for other in (flow.COMMAND, flowd.COMMAND):
        if other.prog != command.prog and word in other.verbs:
            hint = f"did you mean {other.prog} {word}? "
            break
    else:
        hint = did_you_mean(word, command.verbs)
    hint += f"all commands: {command.prog} help"
    return UsageError(f"there is no command {word!r}", hint=hint)


def _discard_output() -> None:
    """Have what is still buffered go nowhere, so that the exit does not fail over it."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError:
        return


def _could_not(prog: str, error: FlowdError, *, as_json: bool) -> int:
    code = next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), EXIT_COULD_NOT)
    what = str(error)
    if as_json:
        print_json({"error": what, "hint": error.hint, "exit_code": code})
        return code
    sys.stderr.write(f"{prog}: {what}\n")
    if error.hint:
        sys.stderr.write(f"  {error.hint}\n")
    return code


def _bug(prog: str, arguments: list[str], error: Exception) -> int:
    import time
    import traceback

    from flowd import __version__
    from flowd.actions.context import Context
    from flowd.config.paths import make_private_dir
    from flowd.system.files import atomic_write

    context = Context()
    redact = context.lenient_redact
    report = redact(
        f"{prog} {__version__}, Python {sys.version.split()[0]}, {sys.platform}\n"
        f"arguments: {arguments[:1]}\n\n{''.join(traceback.format_exception(error))}"
    )
    try:
        directory = context.paths.log_dir
        make_private_dir(directory)
        file = directory / f"bug-{time.strftime('%Y%m%dT%H%M%S')}.txt"
        atomic_write(file, report)
        where = f"a report was written to {file}"
    except OSError:
        where = report
    what = f"this is a bug: {type(error).__name__}: {redact(str(error))}"
    if "--json" in arguments:
        print_json({"error": what, "hint": where, "exit_code": EXIT_BUG})
    else:
        sys.stderr.write(f"{prog}: {what}\n  {where}\n")
    return EXIT_BUG
