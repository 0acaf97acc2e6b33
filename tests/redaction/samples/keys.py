"""Private key blocks, whole and in the layouts that people and programs break them into."""

from collections.abc import Callable

from tests.redaction.samples.template import fill

KINDS = ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP ", "SSH2 ENCRYPTED ")
Layout = Callable[[list[str]], str]


def key_lines(kind: str, lines: int = 6) -> list[str]:
    """Return the lines of a private key block."""
    tail = " BLOCK" if kind == "PGP " else ""
    body = [fill("{S64}", f"{kind}{number}") for number in range(lines)]
    return [
        f"-----BEGIN {kind}PRIVATE " + f"KEY{tail}-----",
        *body,
        f"-----END {kind}PRIVATE " + f"KEY{tail}-----",
    ]


LAYOUTS: dict[str, Layout] = {
    "plain": "\n".join,
    "carriage returns": "\r\n".join,
    "indented": lambda lines: "key: |\n" + "\n".join("    " + line for line in lines),
    "quoted": lambda lines: "\n".join("> " + line for line in lines),
    "list item": lambda lines: "- " + "\n  ".join(lines),
    "a bullet for each line": lambda lines: "\n".join("- " + line for line in lines),
    "a number for each line": lambda lines: "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1)),
    "numbered lines": lambda lines: "\n".join(f"{n:6}\t{line}" for n, line in enumerate(lines, 1)),
    "arrow lines": lambda lines: "\n".join(f"{n:6}→{line}" for n, line in enumerate(lines, 1)),
    "diff": lambda lines: "\n".join("+" + line for line in lines),
    "comment": lambda lines: "\n".join("# " + line for line in lines),
    "one line": " ".join,
    "escaped line ends": lambda lines: '{"key": "' + "\\n".join(lines) + '\\n"}',
    "escaped twice": lambda lines: '{"text": "{\\"key\\": \\"' + "\\\\n".join(lines) + '\\"}"}',
    "string pieces": lambda lines: "\n".join(f'"{line}\\n"' for line in lines),
    "string sum": lambda lines: " +\n".join(f"'{line}\\n'" for line in lines),
    "list of strings": lambda lines: "[" + ", ".join(f'"{line}"' for line in lines) + "]",
    "end cut off": lambda lines: "\n".join(lines[:-2]),
    "end cut off, bullets": lambda lines: "\n".join("- " + line for line in lines[:-1]),
    "start cut off": lambda lines: "\n".join(lines[2:]),
    "blank lines between": "\n\n".join,
    "table": lambda lines: "| key | " + "<br>".join(lines) + " |",
}
