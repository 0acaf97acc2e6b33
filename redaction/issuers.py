"""What issuers start their tokens with, and what follows. Facts, one row per kind."""

from typing import NamedTuple

from flowd.redaction.data import BODY


class Shape(NamedTuple):
    """Tokens that start with one of *prefixes* (blank-separated), followed by what *tail* matches.

    A *weak* prefix also starts ordinary names: what follows it must hold letters and digits.
    """

    kind: str
    prefixes: str
    tail: str
    is_weak: bool = False


_ALNUM = "[A-Za-z0-9]"
_BASE64 = "(?:[A-Za-z0-9+/]|%2[BF])"
_PAD = "(?:=|%3D){0,2}"
_HEX = "[0-9a-f]"
_UUID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"
_END = "(?![A-Za-z0-9])"
# Capitals and digits among the first characters, as no name has them.
_MIXED = r"(?=[\w-]{0,20}[A-Z])(?=[\w-]{0,20}\d)"

# Each tail has one unbounded run, or parts that cannot contain each other: that keeps them linear.
SHAPES = (
    # models
    Shape("anthropic-key", "sk-ant-", r"[\w-]{16,}"),
    Shape("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{16,}"),
    Shape("api-key", "sk-or-v1- sk-lf- csk-", r"[A-Za-z0-9-]{20,}"),
    Shape(
        "api-key",
        "sk-",
        rf"{_ALNUM}{{20,}}|{_ALNUM}+(?:-{_ALNUM}{{8,}}){{3,}}|{_MIXED}[\w-]{{20,}}",
        is_weak=True,
    ),
    Shape("google-key", "AIza", r"[\w-]{35}"),
    Shape("google-secret", "GOCSPX-", r"[\w-]{20,}"),
    Shape("google-token", "1//0", r"[\w-]{30,}"),
    Shape("groq-key", "gsk_", rf"{_ALNUM}{{40,}}"),
    Shape("xai-key", "xai-", rf"{_ALNUM}{{40,}}"),
    Shape("perplexity-key", "pplx-", rf"{_ALNUM}{{40,}}"),
    Shape("huggingface-token", "hf_ api_org_", rf"{_ALNUM}{{30,}}"),
    Shape("replicate-token", "r8_", rf"{_ALNUM}{{30,}}"),
    Shape("tavily-key", "tvly-", r"[\w-]{20,}"),
    Shape("api-key", "fw_ as- pa- fc- llx- exa_", rf"{_ALNUM}{{20,}}|{_MIXED}[\w-]{{40,}}", is_weak=True),
    Shape("together-key", "tgp_v1_", r"[\w-]{30,}"),
    Shape("nvidia-key", "nvapi-", r"[\w-]{40,}"),
    Shape("pinecone-key", "pcsk_", r"\w{40,}"),
    Shape("langsmith-key", "lsv2_", r"(?:pt|sk)_\w{30,}"),
    Shape("jina-key", "jina_", r"[\w-]{40,}"),
    Shape("wandb-key", "wandb_v1_", r"[\w-]{30,}"),
    Shape("cursor-key", "crsr_", rf"{_HEX}{{64}}"),
    # source and packages
    Shape("github-token", "ghs_", r"\d{1,12}_eyJ[\w-]{8,2048}\.[\w-]{8,4096}\.[\w-]{8,}"),
    Shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ALNUM}{{30,}}"),
    Shape("github-token", "github_pat_", r"\w{22,}"),
    Shape(
        "gitlab-token",
        "glpat- glptt- gldt- glrt- glcbt- glft- glsoat- glagent- gloas- glimt- glffct- glwt-",
        r"[\w-]{20,}(?:\.[\w.-]{2,40})?",
    ),
    Shape("gitlab-token", "GR1348941", r"[\w-]{20,}"),
    Shape("atlassian-token", "ATATT3 ATCTT3", r"[\w=%-]{50,}"),
    Shape("atlassian-token", "ATTA", rf"{_HEX}{{60,}}"),
    Shape("bitbucket-token", "ATBB", rf"{_ALNUM}{{28,}}"),
    Shape("bitbucket-token", "BBDC-", rf"{_BASE64}{{30,}}"),
    Shape("sourcegraph-token", "sgp_", rf"(?:(?:{_HEX}{{16}}|local)_)?{_HEX}{{40}}"),
    Shape("npm-token", "npm_", rf"{_ALNUM}{{36}}"),
    Shape("pypi-token", "pypi-", r"[\w-]{50,}"),
    Shape("rubygems-key", "rubygems_", rf"{_HEX}{{40,}}"),
    Shape("nuget-key", "oy2", rf"[a-z0-9]{{43}}{_END}"),
    Shape("clojars-token", "CLOJARS_", r"[a-z0-9]{40,}"),
    Shape("crates-token", "cio", rf"{_ALNUM}{{32}}{_END}", is_weak=True),
    Shape("docker-token", "dckr_pat_ dckr_oat_", r"[\w-]{20,}"),
    Shape("jfrog-token", "AKCp", rf"{_ALNUM}{{60,}}"),
    Shape("jfrog-token", "cmVmdGtuOj", rf"{_ALNUM}{{40,}}"),
    Shape("sonar-token", "squ_ sqp_ sqa_", rf"{_HEX}{{40}}"),
    Shape("buildkite-token", "bkua_ bkagent_ bkct_ bkar_ bkaj_ bkpr_ bkps_ bkpat_", r"[\w-]{30,}"),
    Shape("circleci-token", "CCIPAT_ CCIPRJ_", rf"{_ALNUM}{{10,40}}_[a-z0-9]{{30,}}"),
    Shape("octopus-key", "API-", r"[A-Z0-9]{25,}(?![A-Za-z0-9-])", is_weak=True),
    Shape("scalingo-token", "tk-us-", r"[\w-]{40,}"),
    Shape("infracost-key", "ico-", rf"{_ALNUM}{{32}}{_END}", is_weak=True),
    Shape("prefect-key", "pnu_ pnb_", rf"{_ALNUM}{{36}}"),
    Shape("dbt-token", "dbtc_ dbtu_", r"[\w=-]{30,}"),
    Shape("pulumi-token", "pul-", rf"{_HEX}{{40}}{_END}"),
    Shape("onepassword-token", "ops_eyJ", rf"{_BASE64}{{40,}}{_PAD}"),
    Shape(
        "onepassword-key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"
    ),
    Shape("wallet-key", "xprv yprv zprv tprv", rf"{_ALNUM}{{100,}}"),
    Shape("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    # clouds
    Shape("aws-key-id", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Z0-9])"),
    Shape("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", rf"{_BASE64}{{80,}}{_PAD}"),
    Shape("aws-key", "ABSK", rf"{_BASE64}{{100,}}{_PAD}"),
    Shape("alibaba-key-id", "LTAI", rf"{_ALNUM}{{12,26}}{_END}"),
    Shape("tencent-key-id", "AKID", rf"{_ALNUM}{{32}}{_END}"),
    Shape("yandex-key", "AQVN", r"[\w-]{35,}"),
    Shape("yandex-token", "y0_", r"[\w-]{50,}"),
    Shape("yandex-key", "YCAJE YCNS YCM", r"[\w-]{20,}"),
    Shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{40,}}"),
    Shape("digitalocean-key", "DO00 DO80", rf"[A-Z0-9]{{16}}{_END}"),
    Shape("scaleway-key", "SCW", rf"[A-Z0-9]{{17}}{_END}"),
    Shape("heroku-key", "HRKU-", r"[\w-]{30,}"),
    Shape("render-key", "rnd_", rf"{_ALNUM}{{28,}}"),
    Shape("fly-token", "fo1_", r"[\w-]{40,}"),
    Shape("fly-token", "fm1r_ fm1a_ fm2_", rf"{_BASE64}{{80,}}{_PAD}"),
    Shape("netlify-token", "nfp_ nfc_ nfo_ nfu_", rf"{_ALNUM}{{30,}}"),
    Shape("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"\w{24,}"),
    Shape("vercel-token", "vercel_blob_rw_", r"\w{30,}"),
    Shape("cloudflare-token", "cfut_ cfat_ cfk_", rf"{_ALNUM}{{36,}}"),
    Shape("tailscale-key", "tskey-", r"[\w-]{14,}"),
    Shape("ngrok-token", "ngrok_", rf"{_MIXED}[\w-]{{40,}}", is_weak=True),
    Shape("databricks-token", "dapi dose", rf"{_HEX}{{32}}(?:-\d)?{_END}"),
    Shape("planetscale-token", "pscale_pw_ pscale_tkn_ pscale_oauth_ pscale_app_secret_", r"[\w=.-]{30,}"),
    Shape("supabase-token", "sbp_", r"(?:oauth_)?[a-z0-9-]{40,}"),
    Shape("supabase-token", "sb_secret_", r"[\w-]{20,}"),
    Shape("neon-key", "napi_", rf"{_ALNUM}{{40,}}"),
    Shape("mongodb-key", "mdb_sa_sk_", r"[\w-]{30,}"),
    Shape("clickhouse-key", "4b1d", rf"{_ALNUM}{{38}}{_END}"),
    Shape("confluent-key", "cflt", rf"{_BASE64}{{50,}}", is_weak=True),
    Shape("docker-swarm-token", "SWMTKN-1-", r"[a-z0-9]{40,}-[a-z0-9]{20,}"),
    Shape("elastic-key", "essu_", r"[\w+/=-]{40,}"),
    # chat and mail
    Shape("slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs-", r"[\w%-]{10,}"),
    Shape("slack-token", "xapp-", r"\d{1,3}-[A-Za-z0-9-]{10,}"),
    Shape("twilio-key", "SK", rf"{_HEX}{{32}}{_END}"),
    Shape("mailgun-key", "key-", rf"{_HEX}{{32}}{_END}"),
    Shape("brevo-key", "xkeysib- xsmtpsib-", rf"{_HEX}{{64}}-{_ALNUM}{{16}}"),
    Shape("resend-key", "re_", rf"{_ALNUM}{{8}}_{_ALNUM}{{20,}}{_END}", is_weak=True),
    Shape("intercom-token", "dG9rOj", rf"{_BASE64}{{40,}}{_PAD}"),
    Shape("klaviyo-key", "pk_", rf"{_HEX}{{34}}{_END}|\d{{6,10}}_[A-Z0-9]{{32}}{_END}", is_weak=True),
    Shape("hubspot-token", "pat-", rf"(?:na|eu|ap)\d-{_UUID}"),
    # money and shops
    Shape(
        "stripe-key",
        "sk_live_ rk_live_ sk_test_ rk_test_ sk_org_live_ sk_org_test_ sk_prod_ rk_prod_",
        rf"{_ALNUM}{{10,}}",
    ),
    Shape("webhook-secret", "whsec_", rf"{_BASE64}{{20,}}{_PAD}"),
    Shape("api-key", "sk_", rf"(?:sbox_)?(?:{_HEX}{{32,}}|[a-z0-9]{{26,}}){_END}", is_weak=True),
    Shape("square-token", "sq0atp- sq0csp- sq0idp- EAAAl EAAAE", r"[\w-]{20,}"),
    Shape("square-token", "EAAA", r"[\w-]{56,}"),
    Shape("razorpay-key", "rzp_live_ rzp_test_", rf"{_ALNUM}{{14,}}"),
    Shape("adyen-key", "AQE", rf"{_BASE64}{{80,}}{_PAD}"),
    Shape("plaid-token", "access-production- access-sandbox- access-development-", _UUID),
    Shape("flutterwave-key", "FLWSECK_TEST- FLWSECK-", r"[a-h0-9]{12,}(?:-X)?"),
    Shape("shopify-token", "shpat_ shpss_ shpca_ shppa_", r"[a-fA-F0-9]{32,}"),
    Shape("duffel-token", "duffel_live_ duffel_test_", r"[\w=-]{40,}"),
    Shape("easypost-key", "EZAK EZTK", rf"{_ALNUM}{{54}}{_END}"),
    Shape("shippo-token", "shippo_live_ shippo_test_", rf"{_HEX}{{40}}"),
    Shape("api-key", "live_ test_", rf"{_HEX}{{35}}{_END}"),
    Shape("api-key", "live_", rf"{_MIXED}[\w-]{{40,}}", is_weak=True),
    Shape("coinbase-key", "organizations/", f"{_UUID}/apiKeys/{_UUID}"),
    # tools
    Shape("notion-token", "ntn_", rf"{_ALNUM}{{40,}}"),
    Shape("notion-token", "secret_", rf"{_ALNUM}{{40,}}", is_weak=True),
    Shape("linear-key", "lin_api_ lin_oauth_", rf"{_ALNUM}{{32,}}"),
    Shape("asana-token", "1/ 2/", rf"\d{{13,19}}(?:/\d{{13,19}})?:{_HEX}{{32}}{_END}"),
    Shape("airtable-token", "pat", rf"{_ALNUM}{{14}}\.{_HEX}{{64}}"),
    Shape("figma-token", "figd_ figu_", r"[\w-]{36,}"),
    Shape("typeform-token", "tfp_", r"[\w.=-]{40,}"),
    Shape("contentful-token", "CFPAT-", r"[\w-]{40,}"),
    Shape("frameio-token", "fio-u-", r"[\w=-]{60,}"),
    Shape("readme-key", "rdme_", r"[a-z0-9]{60,}"),
    Shape("postman-key", "PMAK- PMAT-", r"[A-Za-z0-9-]{24,}"),
    Shape("grafana-token", "glsa_", rf"{_ALNUM}{{20,}}_{_HEX}{{8}}"),
    Shape("grafana-token", "glc_", rf"{_BASE64}{{32,}}{_PAD}"),
    Shape("grafana-token", "eyJrIjoi", rf"{_ALNUM}{{60,}}{_PAD}"),
    Shape("newrelic-key", "NRAK- NRAL- NRAA- NRII- NRIQ- NRRA-", r"[\w-]{20,}"),
    Shape("newrelic-key", "NRJS-", rf"{_HEX}{{19}}"),
    Shape("sentry-token", "sntryu_ sntrys_", r"[\w+/=%-]{40,}"),
    Shape("honeycomb-key", "hcaik_ hcaic_ hcamk_ hcbik_", r"[a-z0-9]{50,}"),
    Shape("posthog-key", "phx_ phs_", r"\w{40,}"),
    Shape("launchdarkly-key", "sdk- api-", _UUID + _END),
    Shape("statsig-key", "secret-", rf"{_ALNUM}{{36,}}", is_weak=True),
    Shape("facebook-token", "EAA", rf"{_ALNUM}{{80,}}"),
    Shape("instagram-token", "IGQ", r"[\w-]{80,}"),
    Shape("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"[\w%]{60,}"),
    Shape("riot-key", "RGAPI-", _UUID),
    Shape("adobe-secret", "p8e-", r"[\w-]{32}"),
    Shape(
        "authress-key",
        "sc_ ext_ scauth_ authress_",
        rf"{_ALNUM}{{5,30}}\.{_ALNUM}{{4,6}}\.acc[_-]" + r"[a-z0-9-]{10,32}\.[\w+/=-]{30,120}",
    ),
    Shape("defined-networking-key", "dnkey-", r"[\w=-]{26}-[\w=-]{52}"),
    Shape("intra42-secret", "s-s4t2ud- s-s4t2af-", rf"{_HEX}{{64}}"),
    Shape("settlemint-token", "sm_pat_ sm_aat_ sm_sat_", rf"{_ALNUM}{{16}}"),
    # smaller issuers
    Shape(
        "api-key",
        "AIK_CI_ AIK_SECRET_ apify_api_ bedrock-api-key- CCDB1_ configcat-sdk-1/ mercury_production_",
        r"[\w/+=-]{20,}",
    ),
    Shape(
        "api-key",
        "mergify_application_key_ Mid-server- pdl_live_apikey_ persona_production_ polar_at_ polar_oat_",
        r"[\w-]{16,}",
    ),
    Shape(
        "api-key",
        "polar_pat_ ramp_sec_ samsara_api_ xnd_production_ zpka_ mercury_sandbox_ packagist_ort_",
        r"[\w-]{20,}",
    ),
    Shape(
        "api-key",
        "packagist_out_ packagist_uut_ packagist_acs_ packagist_ack_ os_v2_app_ os_v2_org_ rootly_",
        r"[a-z0-9]{20,}",
    ),
    Shape(
        "api-key",
        "sk_car_ dvc_server_ cog_ ddp_ ddo_ ion_ nyk_ pina_ rpa_ tss_",
        rf"{_ALNUM}{{24,}}",
        is_weak=True,
    ),
    Shape(
        "api-key",
        "unkey_ ucat_ vtwn_ waka_ lip_ prf_cli_ csa_ sgp_ db- al- EXO cnvca",
        rf"{_ALNUM}{{24,}}",
        is_weak=True,
    ),
    Shape("api-key", "apk_user_ apk_", rf"{_BASE64}{{40,}}{_PAD}", is_weak=True),
    Shape("api-key", "BSA", rf"{_MIXED}[\w-]{{27,28}}{_END}", is_weak=True),
    Shape("api-key", "key_", rf"{_HEX}{{24,}}{_END}", is_weak=True),
    Shape("woocommerce-key", "cs_ ck_", rf"{_HEX}{{40}}{_END}"),
    Shape("checkout-key", "sk_", _UUID),
    Shape("ebay-key", "PRD- SBX-", rf"{_HEX}{{8,12}}(?:-{_HEX}{{4}}){{3,4}}", is_weak=True),
    Shape("docker-swarm-key", "SWMKEY-1-", rf"{_BASE64}{{40,}}"),
    Shape("endor-key", "endr+", r"[\w-]{16,}"),
    Shape("miro-token", "eyJtaXJv", r"[\w-]{30,}"),
    # formats
    # DER of a key starts with these bytes, whatever the key: version 0 or 1 inside a sequence.
    Shape("private-key", "MII", r"[A-Za-z0-9+/]{2,3}[QgAw]IB(?:AAKC|ADAN|AASC)[A-Za-z0-9+/]{30,}+" + BODY),
    Shape(
        "private-key",
        "MC4CAQAwBQYDK2V MHcCAQEEI MIGHAgEAMBMG b3BlbnNzaC1rZXktdjE",
        r"[A-Za-z0-9+/]{20,}+" + BODY,
    ),
    Shape(
        "jwt",
        "eyJ",
        r"[\w-]{8,1024}+(?:\.eyJ[\w-]{8,}+\.[\w-]{0,}+|\.[\w-]{20,2048}+\.[\w-]{20,}+(?!\.)"
        r"|\.[\w-]{0,1024}+\.[\w-]{8,1024}+\.[\w-]{8,}+\.[\w-]{8,}+)",
    ),
    Shape("jwt", "ZXlKaGJHY2lPaU ZXlKMGVYQWlPaUp ZXlKcmFXUWlP", rf"{_BASE64}{{40,}}{_PAD}"),
)

# These have characters in front of their long run that no name has, or no prefix at all.
DOTTED = (
    Shape("google-key", "AQ.Ab8", r"[\w-]{30,}"),
    Shape("onfido-token", "api_live. api_live_us. api_live_ca. api_sandbox.", r"[\w-]{11,}\.?[\w-]{8,}"),
    Shape("zoho-token", "1000. 1001.", rf"{_HEX}{{32}}\.{_HEX}{{32}}"),
    Shape("slack-token", "xoxe.xoxp- xoxe.xoxb-", r"[A-Za-z0-9-]{10,}"),
    Shape("vault-token", "hvs. hvb. hvr.", r"[\w-]{20,}"),
    Shape("sendgrid-key", "SG.", r"[\w-]{16,}\.[\w-]{16,}"),
    Shape("google-token", "ya29.", r"[\w.-]{20,}"),
    Shape("dropbox-token", "sl.", r"(?:u\.)?[\w=-]{100,}"),
    Shape("harness-token", "pat. sat.", r"[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    Shape("infisical-token", "st.", r"[a-f0-9-]{24,36}\.[a-f0-9]{32}\.[a-f0-9]{32}"),
    Shape("mailersend-token", "mlsn.", r"[A-Za-z0-9]{30,}"),
    Shape("dynatrace-token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    Shape("yandex-token", "t1.", r"[\w-]{20,}={0,2}\.[\w-]{86}={0,2}"),
    Shape("mapbox-token", "sk.eyJ", r"[\w-]{20,}\.[\w-]{16,}"),
    Shape("cloudflare-key", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{100,}"),
    Shape("discord-token", "mfa.", r"[\w-]{80,}"),
    Shape("paseto", "v1.local. v2.local. v3.local. v4.local.", r"[\w-]{40,}(?:\.[\w-]+)?"),
    Shape("aws-key", "amzn.mws.", _UUID),
    Shape("openshift-token", "sha256~", r"[\w-]{43}"),
)
