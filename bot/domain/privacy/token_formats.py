"""
Tokens and keys whose makers gave them a form of their own: how each begins, and what follows.

Most were looked up in the rules of gitleaks (docs/adr/0028-secret-formats.md). The runs of a pattern give
nothing back, and only the last is unbounded: matching takes time in proportion to the text, and
`tests/domain/test_token_formats.py` checks it by the form of each pattern.
"""

from typing import NamedTuple

HEX = "[A-Fa-f0-9]"
WORD = "[A-Za-z0-9]"
WORDS = "[A-Za-z0-9_-]"
DOTTED = r"(?:[A-Za-z0-9_=-]|[.](?!\s|$))"
"""A dot that ends a sentence is no part of a token."""
BASE64 = "[A-Za-z0-9+/=]"


class Format(NamedTuple):
    """
    One of *beginnings*, then *rest*. With *digit*, the rest has a digit or letters of both cases: an ordinary word
    could begin like that.
    """

    kind: str
    beginnings: tuple[str, ...]
    rest: str
    digit: bool = True


def _least(number: int, of: str) -> str:
    """So many, and all that follow: makers lengthen their tokens, and half a token is still a leak."""
    return f"{of}{{{number},}}+"


def _just(number: int, of: str) -> str:
    return f"{of}{{{number}}}(?!{of})"


FORMATS: tuple[Format, ...] = (
    Format("age-key", ("AGE-SECRET-KEY-1",), _least(50, "[A-Z0-9]"), digit=False),
    Format(
        "github-token",
        ("github_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        _least(20, "[A-Za-z0-9_]"),
        digit=False,
    ),
    Format("gitlab-token", ("glpat-", "gldt-", "glrt-", "glptt-"), _least(16, DOTTED), digit=False),
    Format(
        "gitlab-token",
        ("glcbt-", "glffct-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-"),
        _least(20, WORDS),
    ),
    Format("gitlab-token", ("GR1348941",), _least(20, WORDS), digit=False),
    Format("gitlab-session", ("_gitlab_session=",), _least(32, WORD)),
    Format("google-key", ("AIza",), "[A-Za-z0-9_-]{35}", digit=False),
    Format("google-token", ("GOCSPX-", "ya29."), _least(20, WORDS), digit=False),
    Format("anthropic-key", ("sk-ant-",), _least(16, WORDS), digit=False),
    Format("openai-key", ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-", "sk-lf-"), _least(16, WORDS)),
    Format("openai-key", ("sk-",), _least(20, WORD)),
    Format(
        "stripe-key",
        ("sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"),
        _least(10, WORD),
        digit=False,
    ),
    Format("stripe-key", ("whsec_",), _least(16, BASE64), digit=False),
    Format("npm-token", ("npm_",), _least(30, WORD), digit=False),
    Format("pypi-token", ("pypi-",), _least(40, WORDS), digit=False),
    Format("huggingface-token", ("hf_", "api_org_"), _least(30, WORD), digit=False),
    Format("sendgrid-key", ("SG.",), "[A-Za-z0-9=_-]{16,64}+[.]" + _least(16, DOTTED), digit=False),
    Format("sendgrid-key", ("SG.",), _least(66, DOTTED)),
    Format("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), _least(40, HEX), digit=False),
    Format("vault-token", ("hvs.", "hvb.", "hvr."), _least(20, WORDS), digit=False),
    Format("vault-token", ("s.",), _just(24, WORD)),
    Format("atlassian-token", ("ATATT3",), _least(20, "[A-Za-z0-9_=-]"), digit=False),
    Format("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), _least(32, HEX), digit=False),
    Format("api-key", ("gsk_", "xai-", "figd_"), _least(30, WORDS), digit=False),
    Format("linear-key", ("lin_api_", "lin_oauth_"), _least(30, WORD), digit=False),
    Format("notion-token", ("ntn_", "secret_"), _least(43, WORD)),
    Format("notion-token", ("ntn_",), _least(30, WORD)),
    Format("databricks-token", ("dapi",), "[a-f0-9]{32}(?:-[0-9])?"),
    Format("1password-key", ("A3-",), "[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}"),
    Format("1password-token", ("ops_eyJ",), _least(100, BASE64)),
    Format("adobe-secret", ("p8e-",), _least(32, WORD)),
    Format("airtable-token", ("pat",), "[A-Za-z0-9]{14}[.]" + _least(64, HEX)),
    Format("alibaba-key", ("LTAI",), _least(16, WORD)),
    Format("artifactory-token", ("AKCp",), _least(69, WORD)),
    Format("artifactory-token", ("cmVmd",), _least(59, WORD)),
    Format(
        "authress-key",
        ("sc_", "ext_", "scauth_", "authress_"),
        "[a-z0-9]{5,30}+[.][a-z0-9]{4,6}+[.]acc[_-][a-z0-9-]{10,32}+[.]" + _least(30, "[A-Za-z0-9+/_=-]"),
    ),
    Format("aws-access-key", ("ABIA", "ACCA", "A3T"), "[A-Z2-7]{16,17}+(?![A-Za-z0-9])"),
    Format("aws-bedrock-key", ("ABSK",), _least(100, BASE64)),
    Format("aws-bedrock-key", ("bedrock-api-key-",), _least(20, BASE64), digit=False),
    Format("clickhouse-key", ("4b1d",), _just(38, WORD)),
    Format("clojars-token", ("CLOJARS_", "clojars_"), _least(50, WORD)),
    Format("cloudflare-key", ("v1.0-",), "[A-Fa-f0-9]{24}-" + _least(100, HEX)),
    Format("defined-networking-key", ("dnkey-",), "[A-Za-z0-9=_-]{26}-" + _least(40, "[A-Za-z0-9=_-]")),
    Format(
        "doppler-token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."), _least(40, DOTTED)
    ),
    Format("dropbox-token", ("sl.",), _least(100, "[A-Za-z0-9=_-]")),
    Format("duffel-token", ("duffel_test_", "duffel_live_"), _least(40, "[A-Za-z0-9_=-]")),
    Format("dynatrace-token", ("dt0c01.", "dt0s01."), "[A-Za-z0-9]{24}[.]" + _least(60, WORD)),
    Format("easypost-key", ("EZAK", "EZTK"), _least(54, WORD)),
    Format("facebook-token", ("EAAM", "EAAC"), _least(100, WORD)),
    Format(
        "flutterwave-key",
        ("FLWSECK_TEST-", "FLWPUBK_TEST-", "FLWSECK-", "FLWPUBK-"),
        _least(12, "[A-Ha-h0-9]") + "(?:-X)?",
    ),
    Format("fly-token", ("fo1_",), _least(43, WORDS)),
    Format("fly-token", ("fm1a_", "fm1r_", "fm2_"), _least(80, BASE64)),
    Format("frameio-token", ("fio-u-",), _least(60, "[A-Za-z0-9_=-]")),
    Format("gocardless-token", ("live_",), _least(40, "[A-Za-z0-9_=-]")),
    Format("grafana-key", ("eyJrIjoi",), _least(60, BASE64)),
    Format("grafana-key", ("glc_",), _least(32, BASE64)),
    Format("grafana-token", ("glsa_",), "[A-Za-z0-9]{32}_" + _least(8, HEX)),
    Format("harness-key", ("pat.", "sat."), "[A-Za-z0-9_-]{22}[.][A-Za-z0-9]{24}[.]" + _least(20, WORD)),
    Format("heroku-key", ("HRKU-",), _least(36, WORDS)),
    Format("infracost-key", ("ico-",), _least(32, WORD)),
    Format("intra42-secret", ("s-s4t2ud-", "s-s4t2af-"), _least(64, HEX)),
    Format("jwt", ("ZXlK",), _least(60, "[A-Za-z0-9+/_=-]")),  # in base64 once more
    Format(
        "private-key",
        (
            "LS0tLS1CRUdJTiBQUklWQVRF",
            "LS0tLS1CRUdJTiBSU0Eg",
            "LS0tLS1CRUdJTiBFQyBQ",
            "LS0tLS1CRUdJTiBPUEVOU1NI",
            "LS0tLS1CRUdJTiBFTkNSWVBU",
            "LS0tLS1CRUdJTiBEU0Eg",
        ),
        _least(20, BASE64),
    ),  # in base64
    Format("lob-key", ("test_pub_", "live_pub_"), _least(31, "[a-f0-9]")),
    Format("lob-key", ("test_", "live_"), _just(35, "[a-f0-9]")),
    Format("mailgun-key", ("pubkey-", "key-"), _just(32, "[a-f0-9]")),
    Format("mapbox-token", ("pk.", "sk.", "tk."), "[A-Za-z0-9]{60,200}+[.]" + _least(20, WORDS)),
    Format("new-relic-key", ("NRAK-", "NRII-", "NRJS-", "NRRA-"), _least(19, "[A-Za-z0-9-]")),
    Format("octopus-key", ("API-",), _least(25, "[A-Z0-9]")),
    Format("openshift-token", ("sha256~",), _least(40, WORDS)),
    Format("perplexity-key", ("pplx-",), _least(40, WORD), digit=False),
    Format(
        "plaid-token",
        ("access-sandbox-", "access-development-", "access-production-"),
        _least(36, "[a-f0-9-]"),
    ),
    Format("planetscale-token", ("pscale_tkn_", "pscale_oauth_", "pscale_pw_"), _least(32, DOTTED)),
    Format("postman-key", ("PMAK-",), "[A-Fa-f0-9]{24}-" + _least(34, HEX)),
    Format("prefect-key", ("pnu_",), _least(36, WORD)),
    Format("pulumi-token", ("pul-",), _least(40, HEX)),
    Format("readme-key", ("rdme_",), _least(60, "[a-z0-9]")),
    Format("rubygems-key", ("rubygems_",), _least(48, HEX)),
    Format("scalingo-token", ("tk-us-", "tk-eu-"), _least(40, WORDS)),
    Format("sendinblue-key", ("xkeysib-",), "[A-Fa-f0-9]{64}-" + _least(16, WORD)),
    Format("sentry-token", ("sntrys_eyJ",), _least(40, "[A-Za-z0-9+/=_]")),
    Format("sentry-token", ("sntryu_",), _least(64, HEX)),
    Format("settlemint-token", ("sm_aat_", "sm_pat_", "sm_sat_"), _least(16, WORD)),
    Format("shippo-token", ("shippo_live_", "shippo_test_"), _least(40, HEX)),
    Format("sonar-token", ("squ_", "sqp_", "sqa_"), _least(40, "[A-Za-z0-9=_-]")),
    Format("sourcegraph-token", ("sgp_",), "(?:local_|[A-Fa-f0-9]{16}_)?+" + _least(40, HEX)),
    Format("square-token", ("EAAA",), _least(50, WORDS)),
    Format("square-token", ("sq0atp-", "sq0csp-", "sq0idp-"), _least(22, WORDS)),
    Format("twilio-key", ("SK",), _just(32, HEX)),
    Format("typeform-token", ("tfp_",), _least(40, DOTTED)),
    Format("yandex-token", ("t1.",), "[A-Za-z0-9_=-]{10,300}+[.]" + _least(80, "[A-Za-z0-9_=-]")),
    Format("yandex-key", ("AQVN",), _least(35, WORDS)),
    Format("yandex-key", ("YC",), _just(38, WORDS)),
)

MARKED_LATER: tuple[tuple[str, str, str], ...] = (
    ("maxmind-key", "_mmk", "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])"),
    ("azure-secret", "q~", "[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}+(?![A-Za-z0-9_~.-])"),
    ("terraform-token", ".atlasv1.", "[A-Za-z0-9]{14}[.]atlasv1[.]" + _least(60, "[A-Za-z0-9_=-]")),
    ("mailchimp-key", "-us", "[a-f0-9]{32}-us[0-9]{1,2}+(?![A-Za-z0-9])"),
    ("mailgun-key", "-", "[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}(?![A-Za-z0-9-])"),
    ("facebook-token", "|", "[0-9]{15,16}+[|]" + _least(27, WORDS)),
)
"""The kind, what stands in it in small letters, and the pattern of what has its mark in the middle or at the end."""

MAKERS: tuple[str, ...] = (
    "adafruit", "adobe", "airtable", "algolia", "alibaba", "asana", "atlassian", "beamer", "bitbucket", "bittrex",
    "cloudflare", "codecov", "cohere", "coinbase", "confluence", "confluent", "contentful", "datadog", "discord",
    "droneci", "dropbox", "etsy", "facebook", "fastly", "finicity", "finnhub", "flickr", "freshbooks", "gitter",
    "heroku", "hubspot", "intercom", "jfrog", "artifactory", "bintray", "jira", "kraken", "kucoin", "launchdarkly",
    "linkedin", "linked-in", "linked_in", "looker", "mailchimp", "mailgun", "mapbox", "mattermost", "meraki",
    "messagebird", "message-bird", "message_bird", "netlify", "new-relic", "newrelic", "new_relic", "nytimes", "okta",
    "plaid", "privateai", "private_ai", "private-ai", "rapidapi", "sendbird", "sentry", "snyk", "sonar",
    "sourcegraph", "squarespace", "sumologic", "telegram", "travis", "trello", "twitch", "twitter", "typeform",
    "yandex", "zendesk",
)  # fmt: skip
"""Whose keys have no form of their own: they are known by the name before them."""
