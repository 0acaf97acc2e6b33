"""Where secrets turn up: notations for a name with its value, and carriers for a whole line.

A notation marks the value, in the encoding of the notation, with ``⟦`` and ``⟧``.
"""

import html
import json
import shlex
import urllib.parse
from collections.abc import Callable

Notation = Callable[[str, str], str]
Carrier = Callable[[str], str]


def _variable(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def _shell(value: str) -> str:
    quoted = shlex.quote(value)
    return f"'⟦{quoted[1:-1]}⟧'" if quoted != value else f"⟦{value}⟧"


def _json(value: str) -> str:
    return f'"⟦{json.dumps(value, ensure_ascii=False)[1:-1]}⟧"'


def _escaped_twice(value: str) -> str:
    inner = json.dumps(json.dumps(value, ensure_ascii=False), ensure_ascii=False)
    return f"{inner[1:3]}⟦{inner[3:-3]}⟧{inner[-3:-1]}"


def _yaml(value: str) -> str:
    needs_quotes = value[0] in "!@#%&*{[|>'\"-?:`" or ": " in value or " #" in value or " " in value
    return f'"⟦{value}⟧"' if needs_quotes else f"⟦{value}⟧"


# Read aloud, an ordinary word after a name cannot be told from a sentence about the name.
SPOKEN = frozenset({"prose", "prose with code", "chat"})
NOTATIONS: dict[str, Notation] = {
    "prose": lambda name, value: f"For the record, the {name} is ⟦{value}⟧ and it works on staging.",
    "prose with code": lambda name, value: f"I set the {name} to `⟦{value}⟧` for now",
    "chat": lambda name, value: f"bob: {name} is ⟦{value}⟧",
    "json": lambda name, value: f'{{"user": "bob", "{name}": {_json(value)}, "port": 5432}}',
    "json in json": lambda name, value: (
        f'{{"content": "{{\\"{name}\\": {_escaped_twice(value)}, \\"port\\": 5432}}"}}'
    ),
    "shell export": lambda name, value: f"export {_variable(name)}={_shell(value)} && ./deploy --fast",
    "command line flag": lambda name, value: (
        f"acme --{_variable(name).strip('_').lower().replace('_', '-')} {_shell(value)} --port 80"
    ),
    "url": lambda name, value: (
        f"GET https://example.org/hook?v=2&{_variable(name)}=⟦{urllib.parse.quote(value, safe='')}⟧&page=3"
    ),
    "log": lambda name, value: (
        f'2026-01-17T10:30:00Z INFO login user=bob {_variable(name)}="⟦{value}⟧" took=12ms'
    ),
    "yaml": lambda name, value: f"service:\n  {name}: {_yaml(value)}\n  port: 80\n",
    "python": lambda name, value: f"client = connect(host, {_variable(name)}='⟦{value}⟧', timeout=3)",
    "python assignment": lambda name, value: f'{_variable(name)} = "⟦{value}⟧"  # staging',
    "env file": lambda name, value: f"PORT=80\n{_variable(name)}={_yaml(value)}\nDEBUG=1\n",
    "ini": lambda name, value: f"[server]\n{name} = ⟦{value}⟧\nport = 80\n",
    "markdown": lambda name, value: f"- **{name}**: `⟦{value}⟧` (rotate it)",
    "markdown table": lambda name, value: f"| {name} | `⟦{value}⟧` | staging |",
    "diff": lambda name, value: (
        f'@@ -1,2 +1,2 @@\n-{_variable(name)} = os.environ["X"]\n+{_variable(name)} = "⟦{value}⟧"\n'
    ),
    "header": lambda name, value: f"Host: example.org\r\n{name}: ⟦{value}⟧\r\nAccept: */*\r\n",
    "xml": lambda name, value: (
        f"<config><user>bob</user><{_variable(name)}>⟦{html.escape(value)}⟧</{_variable(name)}></config>"
    ),
    "toml": lambda name, value: f'[auth]\n"{name}" = "⟦{value}⟧"\nretries = 3\n',
    "go": lambda name, value: f'cfg := Config{{{_variable(name)}: "⟦{value}⟧", Port: 80}}',
}


def _escaped(line: str) -> str:
    return json.dumps(line, ensure_ascii=False)[1:-1]


CARRIERS: dict[str, Carrier] = {
    "alone": lambda line: line,
    "paragraph": lambda line: f"We tried this first.\n\n{line}\n\nIt worked on the second try.",
    "bullet": lambda line: f"- {line}\n- next step",
    "numbered item": lambda line: f"1. {line}\n2. next step",
    "quotation": lambda line: "> " + line.replace("\n", "\n> "),
    "indented": lambda line: "        " + line.replace("\n", "\n        "),
    "code fence": lambda line: f"```sh\n{line}\n```\n",
    "json string": lambda line: f'{{"content": "{_escaped(line)}", "port": 80}}',
    "json in json": lambda line: f'{{"content": "{_escaped(_escaped(line))}", "port": 80}}',
    "comment": lambda line: f"# {line}",
    "diff": lambda line: "+" + line.replace("\n", "\n+"),
    "shell prompt": lambda line: f"$ {line}\n$ exit",
    "log": lambda line: f"2026-01-17T10:30:00Z INFO ran: {line}",
    "numbered lines": lambda line: f"     6\t\n     7\t{line}\n     8\t",
    "arrow lines": lambda line: f"     7→{line}\n     8→",
    "yaml block": lambda line: "script: |\n  " + line.replace("\n", "\n  ") + "\nport: 80\n",
    "carriage returns": lambda line: f"first\r\n{line}\r\nlast\r\n",
    "after a label": lambda line: f"Now: {line}",
    "tag": lambda line: f"<pre>{line}</pre>",
    "between pipes": lambda line: f"run {line} | tee log",
    "checkbox": lambda line: f"- [ ] {line}\n- [x] done",
}
