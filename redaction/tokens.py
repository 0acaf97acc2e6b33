"""Secrets known by their shape: what issuers prefix their tokens with."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from flowd.redaction.values import is_masked


class Secret(NamedTuple):
    """Where a secret stands in a text, and what kind it is."""

    kind: str
    start: int
    end: int


class Shape(NamedTuple):
    """A kind of token: a literal each one holds, and its pattern, whose group 1, if any, is the secret.

    Most are solid: each holds sixteen letters, digits, dashes and underscores in a row.
    """

    anchor: str
    kind: str
    pattern: str
    is_solid: bool = True


# A token may follow an escape of JSON or of a URL, whose last letter is no part of it.
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_END = r"(?![A-Za-z0-9])"
_NOT_INSIDE_CAPITALS = r"(?<![A-Z0-9])"

# Each pattern has at most one unbounded run, or a start that cannot repeat inside it: that keeps them linear.
SHAPES = (
    Shape("sk-", "anthropic-key", r"sk-ant-[\w-]{16,}"),
    Shape("sk-", "openai-key", r"sk-(?:proj|svcacct|admin|None)-[\w-]{16,}"),
    Shape("sk-", "api-key", _START + r"sk-(?:or-v1-|lf-)?[A-Za-z0-9]{20,}"),
    Shape("sk-", "api-key", _START + r"sk-[A-Za-z0-9]+(?:-[A-Za-z0-9]{8,}){3,}"),
    Shape("ghp_", "github-token", r"ghp_[A-Za-z0-9]{30,}"),
    Shape("gho_", "github-token", r"gho_[A-Za-z0-9]{30,}"),
    Shape("ghu_", "github-token", r"ghu_[A-Za-z0-9]{30,}"),
    Shape("ghs_", "github-token", r"ghs_[A-Za-z0-9]{30,}"),
    Shape("ghr_", "github-token", r"ghr_[A-Za-z0-9]{30,}"),
    Shape("github_pat_", "github-token", r"github_pat_\w{22,}"),
    Shape(
        "gl",
        "gitlab-token",
        _START + r"gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|oas|imt)-[\w.-]{20,}",
        is_solid=False,
    ),
    Shape("xox", "slack-token", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}", is_solid=False),
    Shape("xapp-", "slack-token", r"xapp-\d-[A-Za-z0-9-]{10,}"),
    Shape(
        "hooks.slack.com/",
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,})",
        is_solid=False,
    ),
    Shape("/api/webhooks/", "discord-webhook", r"/api/webhooks/(\d{5,25}/[\w-]{40,})"),
    Shape("AIza", "google-key", r"AIza[\w-]{35}"),
    Shape("GOCSPX-", "google-secret", r"GOCSPX-[\w-]{20,}"),
    Shape("ya29.", "google-token", r"ya29\.[\w.-]{20,}", is_solid=False),
    Shape("1//0", "google-token", _START + r"1//0[\w-]{30,}"),
    Shape("AKIA", "aws-key-id", _NOT_INSIDE_CAPITALS + r"AKIA[A-Z0-9]{16}(?![A-Z0-9])"),
    Shape("ASIA", "aws-key-id", _NOT_INSIDE_CAPITALS + r"ASIA[A-Z0-9]{16}(?![A-Z0-9])"),
    Shape("ABIA", "aws-key-id", _NOT_INSIDE_CAPITALS + r"ABIA[A-Z0-9]{16}(?![A-Z0-9])"),
    Shape("eyJ", "jwt", _START + r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}", is_solid=False),
    Shape("eyJ", "jwt", _START + r"eyJ[\w-]{8,}\.[\w-]{0,}\.[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}", is_solid=False),
    Shape("eyJ", "mapbox-token", _START + r"sk\.eyJ[\w-]{20,}\.[\w-]{16,}"),
    Shape("npm_", "npm-token", r"npm_[A-Za-z0-9]{30,}"),
    Shape("pypi-", "pypi-token", r"pypi-[\w-]{50,}"),
    Shape("rubygems_", "rubygems-key", r"rubygems_[a-f0-9]{40,}"),
    Shape("oy2", "nuget-key", _START + r"oy2[a-z0-9]{43}" + _END),
    Shape("CLOJARS_", "clojars-token", r"CLOJARS_[a-z0-9]{40,}"),
    Shape("dckr_", "docker-token", r"dckr_(?:pat|oat)_[\w-]{20,}"),
    Shape(
        "hf_",
        "huggingface-token",
        _START + r"hf_[A-Za-z0-9]{30,}",
    ),
    Shape("r8_", "replicate-token", _START + r"r8_[A-Za-z0-9]{30,}"),
    Shape("gsk_", "groq-key", _START + r"gsk_[A-Za-z0-9]{40,}"),
    Shape("xai-", "xai-key", _START + r"xai-[A-Za-z0-9]{40,}"),
    Shape("pplx-", "perplexity-key", _START + r"pplx-[A-Za-z0-9]{40,}"),
    Shape("tvly-", "tavily-key", _START + r"tvly-[\w-]{20,}"),
    Shape("k_live_", "stripe-key", r"[srp]k_live_[A-Za-z0-9]{10,}"),
    Shape("k_test_", "stripe-key", r"[sr]k_test_[A-Za-z0-9]{10,}"),
    Shape("whsec_", "webhook-secret", r"whsec_[A-Za-z0-9+/]{20,}={0,2}", is_solid=False),
    Shape("sq0", "square-token", _START + r"sq0[a-z]{3}-[\w-]{20,}"),
    Shape("EAAA", "square-token", _START + r"EAAA[\w-]{56,}"),
    Shape("shp", "shopify-token", _START + r"shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32,}"),
    Shape("SG.", "sendgrid-key", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    Shape("SK", "twilio-key", _START + r"SK[0-9a-f]{32}" + _END),
    Shape("key-", "mailgun-key", _START + r"key-[0-9a-f]{32}" + _END),
    Shape("-us", "mailchimp-key", _START + r"[0-9a-f]{32}-us\d{1,2}" + _END),
    Shape(":AA", "telegram-token", r"(?<![A-Za-z0-9])(?:bot)?\d{8,10}:AA[\w-]{32,}"),
    Shape("AccountKey=", "azure-key", r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})", is_solid=False),
    Shape("SharedAccessKey=", "azure-key", r"SharedAccessKey=([A-Za-z0-9+/]{40,}={0,2})", is_solid=False),
    Shape("sig=", "azure-signature", r"[?&;]sig=([A-Za-z0-9%+/]{30,}=?)", is_solid=False),
    Shape("Q~", "azure-secret", _START + r"[A-Za-z0-9_~.]{3}\dQ~[\w~.-]{31,34}", is_solid=False),
    Shape("dop_v1_", "digitalocean-token", r"dop_v1_[a-f0-9]{40,}"),
    Shape("doo_v1_", "digitalocean-token", r"doo_v1_[a-f0-9]{40,}"),
    Shape("dapi", "databricks-token", _START + r"dapi[a-f0-9]{32}(?:-\d)?" + _END),
    Shape("hvs.", "vault-token", _START + r"hvs\.[\w-]{20,}"),
    Shape("hvb.", "vault-token", _START + r"hvb\.[\w-]{20,}"),
    Shape("dp.", "doppler-token", _START + r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}", is_solid=False),
    Shape("pul-", "pulumi-token", _START + r"pul-[a-f0-9]{40}" + _END),
    Shape("glsa_", "grafana-token", r"glsa_[A-Za-z0-9]{20,}_[a-f0-9]{8}"),
    Shape("glc_", "grafana-token", r"glc_[A-Za-z0-9+/]{32,}={0,2}", is_solid=False),
    Shape("NRAK-", "newrelic-key", r"NRAK-[A-Z0-9]{27}"),
    Shape("sntry", "sentry-token", r"sntry[su]_[\w+/=-]{40,}", is_solid=False),
    Shape("lin_api_", "linear-key", r"lin_api_[A-Za-z0-9]{32,}"),
    Shape("ntn_", "notion-token", _START + r"ntn_[A-Za-z0-9]{40,}"),
    Shape("secret_", "notion-token", _START + r"secret_[A-Za-z0-9]{40,}"),
    Shape("PMAK-", "postman-key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    Shape("ATATT3", "atlassian-token", r"ATATT3[\w=-]{50,}", is_solid=False),
    Shape("ATBB", "bitbucket-token", _START + r"ATBB[A-Za-z0-9]{28,}"),
    Shape("sbp_", "supabase-token", _START + r"sbp_[a-f0-9]{40,}"),
    Shape("sb_secret_", "supabase-token", r"sb_secret_[\w-]{20,}"),
    Shape("nfp_", "netlify-token", _START + r"nfp_[A-Za-z0-9]{30,}"),
    Shape("HRKU-", "heroku-key", r"HRKU-[\w-]{30,}"),
    Shape("ops_eyJ", "onepassword-token", r"ops_eyJ[\w=-]{40,}", is_solid=False),
    Shape("AGE-SECRET-KEY-", "age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
)
# Passing over short runs as a whole is twice as fast as trying for a long one at every letter.
_TO_A_RUN = "(?:[{0}]{{0,15}}+[^{0}])*+[{0}]{{16}}"
# No token is without such a run, and most prose is: one look spares it all the anchors.
_TO_A_LONG_RUN = re.compile(_TO_A_RUN.format("A-Za-z0-9_+~/%.-"))
# Prose has not even sixteen letters of any kind between two blanks, which is seen twice as fast.
_TO_A_LONG_WORD = re.compile("(?:[^ ]{0,15}+ )*+[^ ]{16}")
# Paths and dotted names have long runs, but seldom solid ones.
_TO_A_SOLID_RUN = re.compile(_TO_A_RUN.format("A-Za-z0-9_-"))
_BY_ANCHOR = tuple((shape.anchor, shape) for shape in SHAPES)
_NOT_SOLID = tuple((shape.anchor, shape) for shape in SHAPES if not shape.is_solid)


def find_tokens(text: str) -> Iterable[Secret]:
    """Return every secret of a known shape in *text*."""
    run = _TO_A_LONG_RUN.match(text) if _TO_A_LONG_WORD.match(text) else None
    return _tokens(text, _lines_with_a_long_run(text, run)) if run else ()


def _lines_with_a_long_run(text: str, run: re.Match[str] | None) -> str:
    lines = []
    while run:
        end = text.find("\n", run.end())
        end = len(text) if end < 0 else end
        lines.append(text[text.rfind("\n", 0, run.end()) + 1 : end])
        run = _TO_A_LONG_RUN.match(text, end)
    return "\n".join(lines)


def _tokens(text: str, suspects: str) -> Iterator[Secret]:
    # A token stands on one line with its anchor, so the anchors of a few lines are those of the text.
    anchors = _BY_ANCHOR if _TO_A_SOLID_RUN.match(suspects) else _NOT_SOLID
    for shape in [shape for anchor, shape in anchors if anchor in suspects]:
        for match in _matches(text, shape):
            group = match.lastindex or 0
            if not is_masked(match[group]):
                yield Secret(shape.kind, *match.span(group))


def _matches(text: str, shape: Shape) -> Iterator[re.Match[str]]:
    pattern = compiled(shape.pattern)
    if not _begins_with_its_anchor(shape):
        yield from pattern.finditer(text)
        return
    # Going from anchor to anchor is ten times faster than letting the pattern look at every letter.
    at = text.find(shape.anchor)
    while at >= 0:
        match = pattern.match(text, at)
        if match:
            yield match
        at = text.find(shape.anchor, match.end() if match else at + 1)


@lru_cache(maxsize=512)
def _begins_with_its_anchor(shape: Shape) -> bool:
    bare = shape.pattern.removeprefix(_START).removeprefix(_NOT_INSIDE_CAPITALS)
    return bare.replace("\\", "").startswith(shape.anchor)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return *pattern* compiled, at its first use: all of them at once would be felt when a hook starts."""
    return re.compile(pattern, re.ASCII)
