"""Invented secrets and benign look-alikes, joined at run time: no scanner takes this file for a leak."""

import base64
import json
import random
import string
from collections.abc import Callable

_dice = random.Random(20260117)
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"


def some(alphabet: str, length: int) -> str:
    """Return random letters that hold a digit, a lower-case and no run a person would call a placeholder."""
    while True:
        text = "".join(_dice.choices(alphabet, k=length))
        if any(map(str.isdigit, text)) and any(map(str.isalpha, text)):
            return text


def jwt() -> str:
    """Return three parts as a signer makes them."""
    header = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()).decode()
    body = base64.urlsafe_b64encode(json.dumps({"sub": some(LOWER, 12), "iat": 1768646400}).encode()).decode()
    return ".".join((header.rstrip("="), body.rstrip("="), some(ALNUM, 43)))


def key_block(kind: str, lines: int = 6) -> str:
    """Return a private key block of many lines."""
    body = "\n".join(some(ALNUM + "+/", 64) for _ in range(lines))
    return f"-----BEGIN {kind}PRIVATE " + f"KEY-----\n{body}\n-----END {kind}PRIVATE " + "KEY-----"


# Tokens that tell by their shape what they are, wherever they stand.
SHAPED = [
    "sk-" + "ant-api03-" + some(ALNUM + "_-", 93) + "AA",
    "sk-" + "ant-admin01-" + some(ALNUM, 80),
    "sk-" + "ant-oat01-" + some(ALNUM + "_-", 90),
    "sk-" + "proj-" + some(ALNUM + "_-", 120),
    "sk-" + "svcacct-" + some(ALNUM, 60),
    "sk-" + some(ALNUM, 48),
    "sk-" + "or-v1-" + some(HEX, 64),
    "ghp" + "_" + some(ALNUM, 36),
    "gho" + "_" + some(ALNUM, 36),
    "ghu" + "_" + some(ALNUM, 36),
    "ghs" + "_" + some(ALNUM, 36),
    "ghr" + "_" + some(ALNUM, 76),
    "github" + "_pat_" + some(ALNUM, 22) + "_" + some(ALNUM, 59),
    "glpat" + "-" + some(ALNUM, 20),
    "xox" + "b-" + some(string.digits + "1a", 12) + "-" + some(ALNUM, 24),
    "xox" + "p-" + some(string.digits + "1a", 12) + "-" + some(HEX, 32),
    "xapp" + "-1-A" + some(UPPER, 10) + "-" + some(HEX, 64),
    "AI" + "za" + some(ALNUM + "_-", 34) + "Z",
    "GOCSPX" + "-" + some(ALNUM, 28),
    "ya" + "29." + some(ALNUM, 68),
    "AK" + "IA" + some(UPPER, 16),
    "AS" + "IA" + some(UPPER, 16),
    jwt(),
    jwt(),
    "npm" + "_" + some(ALNUM, 36),
    "pypi" + "-AgEIcHlwaS5vcmc" + some(ALNUM + "_-", 120),
    "hf" + "_" + some(ALNUM, 34),
    "sk" + "_live_" + some(ALNUM, 24),
    "rk" + "_live_" + some(ALNUM, 24),
    "sk" + "_test_" + some(ALNUM, 24),
    "whsec" + "_" + some(ALNUM, 32),
    "SG" + "." + some(ALNUM, 22) + "." + some(ALNUM, 43),
    "SK" + some(HEX, 32),
    "12345" + "67890" + ":AA" + some(ALNUM, 33),
    "dop" + "_v1_" + some(HEX, 64),
    "dckr" + "_pat_" + some(ALNUM, 27),
    "shpat" + "_" + some(HEX, 32),
    "hvs" + "." + some(ALNUM, 90),
    "glsa" + "_" + some(ALNUM, 32) + "_" + some(HEX, 8),
    "gsk" + "_" + some(ALNUM, 52),
    "lin" + "_api_" + some(ALNUM, 40),
    "ATATT" + "3" + some(ALNUM, 120),
    "dapi" + some(HEX, 32),
    "rubygems" + "_" + some(HEX, 48),
    "abc" + "8Q" + "~" + some(ALNUM, 34),
    key_block("RSA "),
    key_block("OPENSSH "),
    key_block(""),
]
# Values without a shape: only the name before them, or the place they stand in, tells.
NAMED = [
    ("aws_secret_access_key", some(ALNUM + "/+", 40)),
    ("AWS_SECRET_ACCESS_KEY", some(ALNUM + "/+", 40)),
    ("password", "hunter" + "2"),
    ("DB_PASSWORD", "Tr0ub4dor" + "&3"[:0] + "x9"),
    ("passwd", some(ALNUM, 12)),
    ("client_secret", some(ALNUM, 32)),
    ("api_key", some(HEX, 32)),
    ("apiKey", some(ALNUM, 24)),
    ("X-Api-Key", some(ALNUM, 40)),
    ("access_token", some(ALNUM, 40)),
    ("twilio_auth_token", some(HEX, 32)),
    ("SLACK_SIGNING_SECRET", some(HEX, 32)),
]
SECRETS: list[tuple[str, str]] = [("value", token) for token in SHAPED] + NAMED

_one_line: Callable[[str], str] = lambda text: text.replace("\n", "\\n")  # noqa: E731 - a table of small functions
CONTEXTS: dict[str, Callable[[str, str], str]] = {
    "prose": lambda name, value: f"For the record, the {name} is {value} and it works on staging.",
    "json": lambda name, value: json.dumps({"user": "bob", name: value, "port": 5432}),
    "json in json": lambda name, value: json.dumps({"content": json.dumps({name: value})}),
    "shell": lambda name, value: f"export {name.replace('-', '_')}='{value}' && ./deploy --fast",
    "url": lambda name, value: f"GET https://example.org/hook?v=2&{name}={_one_line(value)}&page=3 HTTP/1.1",
    "log": lambda name, value: f"2026-01-17T10:30:00Z INFO login user=bob {name}={value} took=12ms",
    "yaml": lambda name, value: f"service:\n  {name}: {_one_line(value)}\n  port: 80\n",
    "python": lambda name, value: f"client = connect(host, {name.replace('-', '_')}={value!r}, timeout=3)",
    "env file": lambda name, value: f"PORT=80\n{name}={_one_line(value)}\nDEBUG=1\n",
    "markdown": lambda name, value: f"- **{name}**: `{_one_line(value)}` (rotate it)",
    "diff": lambda name, value: f'@@ -1,2 +1,2 @@\n-{name} = old\n+{name} = "{value}"\n',
    "header": lambda name, value: f"Host: example.org\r\n{name}: {_one_line(value)}\r\nAccept: */*\r\n",
    "xml": lambda name, value: f"<config><user>bob</user><{name}>{value}</{name}></config>",
}
# Secrets that live in one notation only.
PLACED = [
    ("postgres://bob:" + "s3cr3t-pw" + "@db.example.org:5432/app", "s3cr3t-pw"),
    ("https://x-access-token:" + "v1abc9f00d12" + "@git.example.org/a.git", "v1abc9f00d12"),
    ("redis://:" + "p4ssw0rd!" + "@cache:6379", "p4ssw0rd!"),
    ("Authorization: Bearer " + "a8f3K2m9Q7x1", "a8f3K2m9Q7x1"),
    ("authorization: Basic " + "Ym9iOmh1bnRlcjI=", "Ym9iOmh1bnRlcjI="),
    ("curl -u bob:" + "hunter22x" + " https://example.org", "hunter22x"),
    ("mysql --password " + "9fjK2lsQ" + " -h db", "9fjK2lsQ"),
    (
        "https://hooks.slack.com/services/" + "T0A1B2C3D/B0E1F2G3H/" + "k3Jd8sLq0ZxW2vNm5tRb7yPc",
        "k3Jd8sLq0ZxW2vNm5tRb7yPc",
    ),
    ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=" + "q1W2" * 21 + "ab==", "q1W2q1W2"),
    ("my password is " + "correct-horse-battery-staple", "correct-horse-battery-staple"),
    ("password: " + "swordfish", "swordfish"),
    ('{"name": "API_KEY", "value": "' + "zk81hs72nq0a" + '"}', "zk81hs72nq0a"),
    ("- name: DB_PASSWORD\n  value: " + "zk81hs72", "zk81hs72"),
    ('<add key="ApiKey" value="' + "zk81hs72nq0a" + '"/>', "zk81hs72nq0a"),
    ('password: str = "' + "zk81hs72" + '"', "zk81hs72"),
    ('os.environ["API_KEY"] = "' + "zk81hs72nq0a" + '"', "zk81hs72nq0a"),
    ("pw: " + "hunter2", "hunter2"),
    ('{"password": "p@ss ' + 'w0rd!"}', "w0rd!"),
    ("the new root password will be " + "Xk29!vvq", "Xk29!vvq"),
    ("sshpass -p '" + "hunter2x" + "' ssh a@b", "hunter2x"),
    ("user=bob pass=" + "hunter2x", "hunter2x"),
    ("| password | " + "zk81hs72" + " |", "zk81hs72"),
    ("I set the token to " + "zk81hs72nq0a" + ".", "zk81hs72nq0a"),
    ("Server=db;User Id=sa;Password=" + "Zk!81hs72" + ";Encrypt=true", "Zk!81hs72"),
    ("https://example.org/file?sv=2024&sig=" + "aB3d" * 10 + "%3D&se=2026", "aB3daB3d"),
]

_SHA = some(HEX, 40)
_UUID = "-".join(some(HEX, size) for size in (8, 4, 4, 4, 12))
BENIGN = [
    f"commit {_SHA}",
    f"Merge {_SHA[:7]} into main; revert {_SHA[:12]}",
    f"index {_SHA[:10]}..{some(HEX, 10)} 100644",
    f"session {_UUID} resumed",
    f'{{"sessionId": "{_UUID}", "parentUuid": "{_UUID}"}}',
    f"~/.claude/projects/-work-app/{_UUID}.jsonl",
    '"integrity": "sha512-' + some(ALNUM + "+/", 86) + '=="',
    "    --hash=sha256:" + some(HEX, 64) + " \\",
    'sha256 = "' + some(HEX, 64) + '"',
    "docker.io/library/python@sha256:" + some(HEX, 64),
    "checksum: " + some(HEX, 32),
    'etag: W/"' + some(HEX, 32) + '"',
    'version = "1.0.219"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "'
    + some(HEX, 64)
    + '"',
    "password: str",
    "password: str | None = None",
    "def login(user: str, password: str) -> Token:",
    "password: string;",
    "password VARCHAR(255) NOT NULL",
    "The password is required.",
    "Your password is incorrect, please try again",
    "the password is user-supplied and stored hashed",
    "password is not set",
    "Reset password: click the link in the mail",
    "Enter password: ",
    "password=<your-password>",
    "api_key = '<your-api-key>'",
    "API_KEY=${API_KEY}",
    "TOKEN=$TOKEN",
    'api_key = os.environ["API_KEY"]',
    'token = os.getenv("GITHUB_TOKEN")',
    "const token = process.env.API_TOKEN_V2;",
    "password = getpass.getpass()",
    "self.password = config.password",
    "token = request.headers2.get('x')",
    'headers = {"Authorization": f"Bearer {token}"}',
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Bearer token authentication is used",
    "api_key: xxxxxxxxxxxxxxxxxxxxxxxx",
    "password: ********",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-ant-...",
    "export ANTHROPIC_API_KEY=sk-ant-...",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "max_tokens: 4096, input_tokens=15230",
    '"usage": {"input_tokens": 4, "cache_read_input_tokens": 12843, "output_tokens": 510}',
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased-v2')",
    "next_page_token: " + _UUID,
    "token_url: https://example.org/oauth2/token",
    "secret_name: prod-db-credentials-2",
    "secretName: my-app-secret-v2",
    "the secret to performance is caching2",
    "primary_key=True, foreign_key='users.id'",
    "cache_key = f'user:{user_id}:v2'",
    "src/flowd/handoff/redaction_tokens.py:42: error",
    "/home/bob/.ssh/id_ed25519.pub",
    "private_key_path: /etc/ssl/private/server1.key",
    "https://example.org/a/b?page=2&sort=asc#top",
    "git@github.com:example/repo.git",
    "ssh://git@host.example.org:22/repo.git",
    "postgres://user:password@localhost:5432/db",
    "postgres://${USER}:${PASS}@db/app",
    "http://localhost:8080/path@2x.png",
    "grep -n -- '-----BEGIN.*PRIVATE KEY-----' file",
    "task-0123456789abcdef0123456789 done; disk-0123456789abcdef01234567",
    "PWD=/work/app OLDPWD=/work",
    "if password == other_password:",
    "assert token.type == TokenType.NAME2",
    "    --- PASS: TestPublicAPIRejectsIdenticalSourceAndTarget/Run (0.00s)",
    "'prop', 'pwd', 'quickcheck', 'refute'",
    "def sign(self, private_key: Ed25519PrivateKey, auth: httpx2.Auth | None) -> bytes:",
    "The raw bytes of the private key (64-byte seed).",
    "secret base64 like JR2wHfDgyLxTrUFxoxztNVTXJDNZ4SCqg4XHNv9Up",
    "passed 12 tests, 3 failed; pass: 12",
    "author: bob2@example.org",
    "data:image/png;base64,iVBORw0KGgo" + some(ALNUM, 60),
    "0x" + some(HEX, 64),
    "keyboard: qwerty12, monkey=banana1234",
    "[redacted:github-token]: was here, token [redacted:secret]",
]
