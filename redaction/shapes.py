"""Tokens that are known by something else than what they start with. Facts, one row per kind."""

from typing import NamedTuple


class Anchor(NamedTuple):
    """Tokens that are found by what stands before or inside them; group 1, if any, is the secret."""

    kind: str
    needle: str
    pattern: str


class Preceded(NamedTuple):
    """Tokens that consist of a *head*, which ends with the character *last*, and a long run, the *tail*."""

    kind: str
    last: str
    head: str
    tail: str


_PAD = "(?:=|%3D){0,2}"

ANCHORS = (
    Anchor("azure-secret", "Q~", r"(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[\w~.-]{31,34}"),
    Anchor("okta-token", "SSWS", r"SSWS[ :]{1,3}(00[\w-]{38,42})"),
    Anchor("private-key", "kty", r"\"d\\{0,7}\"[ ]?:[ ]?\\{0,7}\"([\w-]{32,}+)"),
    Anchor("private-key", "RSAKeyValue", r"<D>([A-Za-z0-9+/=]{40,}+)</D>"),
)
WEBHOOKS = (
    Anchor(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,}+)",
    ),
    Anchor("discord-webhook", "/api/webhooks/", r"/api/webhooks/(\d{5,25}/[\w-]{40,}+)"),
    Anchor("teams-webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/([\w@/-]{60,}+)"),
)
# Hashes of passwords, all with a dollar sign.
HASHES = (
    Anchor("password-hash", "$2", r"\$2[abxy]\$\d\d\$[\w./]{53}"),
    Anchor("password-hash", "$6$", r"\$6\$(?:rounds=\d{1,9}\$)?[\w./]{0,16}\$[\w./]{80,90}"),
    Anchor("password-hash", "$5$", r"\$5\$(?:rounds=\d{1,9}\$)?[\w./]{0,16}\$[\w./]{40,50}"),
    Anchor("password-hash", "$y$", r"\$y\$[\w./]{1,12}\$[\w./]{1,86}\$[\w./]{43}"),
    Anchor("password-hash", "$1$", r"\$1\$[\w./]{1,8}\$[\w./]{22}"),
    Anchor("password-hash", "$apr1$", r"\$apr1\$[\w./]{1,8}\$[\w./]{22}"),
    Anchor(
        "password-hash",
        "$argon2",
        r"\$argon2\w{1,2}\$(?:v=\d{1,3}\$)?[\w=,]{5,40}\$[\w+/]{8,64}\$[\w+/]{20,128}",
    ),
    Anchor("password-hash", "pbkdf2", r"pbkdf2\w{0,12}\$\d{3,9}\$[\w./+=]{4,64}\$[\w./+=]{20,128}"),
)
# Tokens whose long run follows a part that ends with a special character: that character, the part, the run.
PRECEDED = (
    Preceded("telegram-token", ":", r"(?<!\d)\d{8,10}:", r"AA[\w-]{32,}"),
    Preceded("rancher-token", ":", r"token-[a-z0-9]{5}:", r"[a-z0-9]{54}"),
    Preceded("astra-token", ":", r"AstraCS:", r"[A-Za-z0-9]{20,}(?::[0-9a-f]{20,})?"),
    Preceded("facebook-token", "|", r"(?<!\d)\d{15,16}\|", r"[\w-]{27,40}"),
    Preceded("salesforce-token", "!", r"00[A-Za-z0-9]{13,16}!", r"[\w.]{80,120}"),
    Preceded("terraform-token", ".", r"[A-Za-z0-9]{14}\.atlasv1\.", r"[\w=-]{60,}"),
    Preceded(
        "doppler-token", ".", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,20}\.)?", r"[A-Za-z0-9]{40,}"
    ),
    Preceded("snyk-token", ".", r"snyk_[su]at\.\w{4,16}\.", r"[\w-]{40,}"),
    Preceded("paypal-token", "$", r"access_token\$(?:production|sandbox)\$", r"[a-z0-9]{16}\$[0-9a-f]{32}"),
)
# Tokens without a prefix: a run of letters, digits, dashes and underscores that is one as a whole.
RUNS = (
    Anchor("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    Anchor("mailgun-key", "-", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"),
    Anchor("azure-key", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    Anchor("azure-key", "ACDb", rf"[A-Za-z0-9+/]{{76}}ACDb[A-Za-z0-9+/]{{4}}{_PAD}"),
    Anchor("line-token", "/w1cDnyilFU", r"[A-Za-z0-9+/]{120,180}/w1cDnyilFU="),
    Anchor("azure-key", "AzFu", rf"[\w-]{{44}}AzFu[\w-]{{4}}{_PAD}"),
    Anchor("maxmind-key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
)
MIN_RUN_TOKEN = 35
DISCORD = r"[MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{27,45}"
