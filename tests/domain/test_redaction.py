"""Secrets in texts: what is hidden, what is left alone, and how long that takes."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.privacy.redaction import _UNSEEN, MARKED, BadPattern, Redactor, own_rule, own_rules
from tests.growth import grows_no_faster

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF" * 4
HEX = "0123456789abcdef" * 4
PEM = "\n".join(
    ("-----BEGIN RSA PRIVATE KEY-----", LETTERS[:64], LETTERS[:40], "-----END RSA PRIVATE KEY-----")
)

# Put together here, so that no scanner takes this file for a leak.
SECRETS = (
    ("slack-token", "xo" + "xb-123456789012-123456789012-" + LETTERS[:24]),
    ("slack-token", "xo" + "xp-123456789012-abc" + HEX[:20]),
    ("slack-token", "xo" + "xe.xoxp-1-" + LETTERS[:40]),
    ("slack-token", "xa" + "pp-1-A0123-456-" + HEX),
    ("github-token", "gh" + "p_" + LETTERS[:36]),
    ("github-token", "gh" + "s_" + LETTERS[:36]),
    ("github-token", "github" + "_pat_11ABC_" + LETTERS[:60]),
    ("gitlab-token", "gl" + "pat-" + LETTERS[:20]),
    ("aws-access-key", "AK" + "IAIOSFODNN7EXAMPLE"),
    ("aws-access-key", "AS" + "IAIOSFODNN7EXAMPLE"),
    ("google-key", "AI" + "za" + LETTERS[:35]),
    ("google-token", "GOC" + "SPX-" + LETTERS[:28]),
    ("anthropic-key", "sk-" + "ant-api03-" + LETTERS[:90]),
    ("openai-key", "sk-" + LETTERS[:48]),
    ("openai-key", "sk-" + "proj-" + LETTERS[:60]),
    ("stripe-key", "sk" + "_live_" + LETTERS[:24]),
    ("stripe-key", "rk" + "_test_" + LETTERS[:24]),
    ("stripe-key", "wh" + "sec_" + LETTERS[:32]),
    ("jwt", "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0In0.dBjftJeZ4CVP"),
    ("npm-token", "npm" + "_" + LETTERS[:36]),
    ("pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + LETTERS[:60]),
    ("huggingface-token", "hf" + "_" + LETTERS[:34]),
    ("sendgrid-key", "S" + "G." + LETTERS[:22] + "." + LETTERS[:43]),
    ("vault-token", "hv" + "s." + LETTERS[:24]),
    ("telegram-token", "123456789:A" + "A" + LETTERS[:33]),
    ("digitalocean-token", "do" + "p_v1_" + HEX),
    ("private-key", PEM),
    ("private-key", PEM.replace("\n", "\\n")),
    ("private-key", PEM.rpartition("\n")[0]),
)

TOLD = (
    ("password = hunter2", "password = [redacted:password]"),
    ("Password: hunter2 works on staging", "Password: [redacted:password] works on staging"),
    ("DB_PASSWORD=correcthorse", "DB_PASSWORD=[redacted:password]"),
    ('{"password": "hunter2!"}', '{"password": "[redacted:password]"}'),
    ("passphrase='correct horse battery'", "passphrase='[redacted:password]'"),
    ("pwd:=S3cret!!", "pwd:=[redacted:password]"),
    ("api_key = a1b2c3d4e5f6", "api_key = [redacted:secret]"),
    ("client_secret: 'abcd1234efgh'", "client_secret: '[redacted:secret]'"),
    (f"AWS_SECRET_ACCESS_KEY={LETTERS[:40]}", "AWS_SECRET_ACCESS_KEY=[redacted:secret]"),
    ("the auth token: 9f8e7d6c5b4a39281706", "the auth token: [redacted:secret]"),
    ("https://bob:hunter2@example.com/x", "https://bob:[redacted:credentials]@example.com/x"),
    ("redis://:hunter2@cache:6379/0", "redis://:[redacted:credentials]@cache:6379/0"),
    (f"git clone https://{HEX[:40]}@git.example/x", "git clone https://[redacted:credentials]@git.example/x"),
    ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [redacted:credentials]"),
    (
        "https://hooks." + "slack.com/services/T0123/B0123/abcdefghijkl",
        "https://hooks.slack.com/services/[redacted:slack-webhook]",
    ),
    ("AccountKey=" + LETTERS[:88], "AccountKey=[redacted:azure-key]"),
    (
        "AK" + f"IAIOSFODNN7EXAMPLE / {LETTERS[:38]}/+ are ours",
        "[redacted:aws-access-key] / [redacted:aws-secret-key] are ours",
    ),
    ("DB_PASS=correcthorse", "DB_PASS=[redacted:password]"),
    ("export SMTP_PASS='two words'", "export SMTP_PASS='[redacted:password]'"),
    ('password: "two words"', 'password: "[redacted:password]"'),
    ('password: "it\'s 4 bees"', 'password: "[redacted:password]"'),
    ('{"password": "correcthorse"}', '{"password": "[redacted:password]"}'),
    (r'"{\"password\": \"hunter2!\"}"', r'"{\"password\": \"[redacted:password]\"}"'),
    ("https://h/x?password=hunter2&page=2", "https://h/x?password=[redacted:password]&page=2"),
    ('var dbPass string = "hunter2"', 'var dbPass string = "[redacted:password]"'),
    ("API_TOKEN ?= a1b2c3d4e5f6", "API_TOKEN ?= [redacted:secret]"),
    ('set("API_TOKEN", "a1b2c3d4e5f6")', 'set("API_TOKEN", "[redacted:secret]")'),
    ("<dbPassword>\n  hunter2\n</dbPassword>", "<dbPassword>\n  [redacted:password]\n</dbPassword>"),
    ('<add key="Password" value="Sommerwind" />', '<add key="Password" value="[redacted:password]" />'),
    ("- name: DB_PASSWORD\n  value: hunter2\n", "- name: DB_PASSWORD\n  value: [redacted:password]\n"),
    ("The password is hunter2.", "The password is [redacted:password]."),
    ("curl -u ada:hunter2 https://h", "curl -u ada:[redacted:credentials] https://h"),
    ("say `curl -u ada:hunter2`, then", "say `curl -u ada:[redacted:credentials]`, then"),
    ("curl --user 'ada:hunter2' \\\n https://h", "curl --user 'ada:[redacted:credentials]' \\\n https://h"),
    ("curl -X POST \\\n  -u ada:hunter2 \\\n h", "curl -X POST \\\n  -u ada:[redacted:credentials] \\\n h"),
    (
        "machine git.example\n  login ada\n  password hunter2\nmacdef init",
        "machine git.example\n  login ada\n  password [redacted:credentials]\nmacdef init",
    ),
    (
        '{"auths": {"r.example": {"auth": "YWRhOmh1bnRlcjI="}}}',
        '{"auths": {"r.example": {"auth": "[redacted:credentials]"}}}',
    ),
    ("client-key-data: LS0tLS1CRUdJTi" + LETTERS[:40], "client-key-data: [redacted:private-key]"),
    (
        "kind: Secret\ndata:\n  user: YWRhbG92ZWxhY2U=\n",
        "kind: Secret\ndata:\n  user: [redacted:secret]\n",
    ),
    ("Passwort: hunter2", "Passwort: [redacted:password]"),
    ("Das Kennwort ist Sommer2024, glaube ich", "Das Kennwort ist [redacted:password], glaube ich"),
    ("Mot de passe : Azerty123", "Mot de passe : [redacted:password]"),
    ("contraseña: Secreto99", "contraseña: [redacted:password]"),
    ("contrasen\u0303a: Secreto99", "contrasen\u0303a: [redacted:password]"),
    ("a senha é Segredo99", "a senha é [redacted:password]"),
    ("palavra-passe=Segredo99", "palavra-passe=[redacted:password]"),
    ("パスワード：hunter2", "パスワード：[redacted:password]"),
    ("パスワードは hunter2 です", "パスワードは [redacted:password] です"),
    ("card 4111 1111 1111 1111, 12/29", "card [redacted:card], 12/29"),
    ("5555-5555-5555-4444 or 378282246310005", "[redacted:card] or [redacted:card]"),
    ("IBAN DE89 3704 0044 0532 0130 00, please", "IBAN [redacted:iban], please"),
    ("to GB29NWBK60161331926819.", "to [redacted:iban]."),
)

HARMLESS = (
    "Fixed in 4fb10c5 and 112c8b7e9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.",
    "Task 550e8400-e29b-41d4-a716-446655440000 is done.",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "FR-001 and AC-001-01 belong to dark-mode-2, turn t03.",
    "The token: see the wiki. Tokens: 200000 per month, max_tokens=4096, tokens_in = 12345678",
    "Password: at least 12 characters, with a digit. Password: 12-character minimum.",
    "password: required, token: string, secret = None, password: SecretStr = None",
    "password = ${DB_PASSWORD}, token=<your token>, api_key = os.environ['KEY'], password=$PASSWORD",
    "The secret of good tokens is short-lived sessions; keys rotate.",
    "password reset takes 2 minutes, the token expires after 15 min",
    "class sk-folding-cube-container-wrapper and sk-learn-2024-pipelines",
    "https://example.com:8080/a@b, user@example.com, http://localhost:3000/path",
    "https://ada@example.com and https://somebody_with_a_long_name@example.com",
    "see https://docs.example.com/token: it is long, key=value, keyboard: qwerty",
    "-----BEGIN CERTIFICATE-----",
    "xoxo, love; the eyJ prefix means JSON; AKIA is how ids begin",
    "Bearer of bad news; basic internationalization",
    "U0ADA said so in C0123ABCDEF at 1700000000.123456",
    "passwords: ****, pass: …………, PASSWORD=********",
    'password: "at least 8 characters", password: "Enter your new password", "password": "required"',
    "Passwort: mindestens 12 Zeichen. Mot de passe oublié ? La contraseña: obligatoria. パスワード: 必須",
    "The password is base64 encoded, the token is required, and the secret is SHA256-hashed.",
    "pass: 12 passed, first_pass = compute(rows), two_pass=True, bypass: none, compass=north",
    "token, value = get_atom(value[1:]); creds = base64.b64encode(user.encode()); ('password', 'Password')",
    "docker run -u 1000:1000 image, useradd --user deploy, git commit -u",
    "machine learning with a login page and a password field",
    'kind: ConfigMap\ndata:\n  user: YWRhbG92ZWxhY2U=\n, {"auth": "required"}, {"auth": "YWRhbG92ZWxhY2U="}',
    "4111 1111 1111 1112, 4111111111111111.5, id-4111111111111111, x4111111111111111, #4111111111111111",
    "+49 170 1234567, 0049 89 1234567890, 1700000000123, 1700000000123456, 2026-11-22 10:11:12",
    "DE88 3704 0044 0532 0130 00, AB12 3456 7890 1234 5678, FR-001 20041010050500013M02606",
    "sentry-cli 2.31.0, twitter: @somebody_with_a_long_handle_1, jira: https://jira.example.com/browse/ABC-123",
    "s.startswith(prefix), pat.match(line), sk_test_helpers_for_everything, live_updates_for_the_dashboard",
)


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
def test_a_secret_gives_itself_away(kind: str, secret: str) -> None:
    """Wherever it stands in a sentence, nothing of it is left, and the mark says what it was."""
    redact = Redactor()

    assert redact(f"It is {secret}. Bye").text.endswith("]. Bye") or kind in {
        "pem",
        "private-key",
        "vault-token",
    }
    for before, after in (("", ""), ("it is ", ", ok?"), ("`", "`"), ("KEY=", "\n"), ("<", ">")):
        text, kinds = redact(f"{before}{secret}{after}")
        assert f"[redacted:{kind}]" in text or kinds == ("secret",)
        assert secret[12:] not in text
        assert len(kinds) == 1


@pytest.mark.parametrize(("text", "shown"), TOLD)
def test_what_stands_after_a_name_is_hidden(text: str, shown: str) -> None:
    """Of `password = …` the name stays, so that people still know what was talked about."""
    assert Redactor()(text).text == shown


@pytest.mark.parametrize("text", HARMLESS)
def test_hashes_ids_and_talk_about_secrets_stay(text: str) -> None:
    """A redaction that hits ordinary words would ruin the record that it protects."""
    assert Redactor()(text) == (text, ())


def test_what_we_were_given_is_hidden_to_the_letter() -> None:
    """A configured secret has no shape to know it by."""
    redact = Redactor(["plain old words", "s3cr3t&more", "admin"])

    assert (
        redact("it's plain old words, s3cr3t&more.").text
        == "it's [redacted:configured], [redacted:configured]."
    )
    assert redact("plain old wordsmith, admin").text == "plain old wordsmith, admin"


@pytest.mark.parametrize(
    "text", ["x{}y", "TOKEN_{}", "%2F{}", "{}{}", "https://host/{}tail", "'{}'", "\u200b{}\u200b"]
)
def test_a_configured_secret_is_hidden_inside_of_a_word(text: str) -> None:
    """Whoever glues a letter to it has told it all the same; of what could be a word that is not said."""
    value = "k9-QrT_72b"

    assert value not in Redactor([value])(text.replace("{}", value)).text
    assert Redactor(["wordsmiths"])("swordsmithship").kinds == ()


@pytest.mark.parametrize(
    "between", ["\u200b", "\u200d", "\u2060", "\u00ad", "\ufeff", "\ufe0f", "\x07", "\u202e"]
)
def test_a_secret_with_something_invisible_in_it_is_one(between: str) -> None:
    """People read it as if nothing stood there, and so does Slack, which never shows these."""
    for kind, secret in SECRETS:
        if kind == "private-key":
            continue
        text, kinds = Redactor()(f"it is {secret[:9]}{between}{secret[9:]}, 👩‍👩‍👧")
        assert secret[12:] not in text
        assert kinds == (kind,)


def test_what_is_invisible_stays_where_it_hides_nothing() -> None:
    """Emoji and several scripts are made with it."""
    text = "👩‍👩‍👧 می‌خواهم ❤️ soft\u00adhyphen"

    assert Redactor(["k9-QrT_72b"])(text) == (text, ())


@pytest.mark.parametrize(
    ("pattern", "text", "shown"),
    [
        ("Project Bluebird", "about project bluebird.", "about [redacted:custom]."),
        ("customer = CUST-######", "CUST-123456 and CUST-12", "[redacted:customer] and CUST-12"),
        ("host = db*.corp.example", "ask db1.eu.corp.example now", "ask [redacted:host] now"),
        ("badge = B??-#", "badge Bx7-4, Bxx-x", "badge [redacted:badge], Bxx-x"),
    ],
)
def test_own_patterns(pattern: str, text: str, shown: str) -> None:
    """`#` is a digit, `?` a letter or digit, one `*` a run of them; a name before ` = ` is the kind."""
    assert Redactor(rules=[own_rule(pattern)])(text).text == shown


@pytest.mark.parametrize(
    "pattern", ["##", "z", "*", "x*y*z", "host = *.corp.example", "Big Name = abc", "a" * 201, "-- --"]
)
def test_own_patterns_that_would_hide_too_much_are_refused(pattern: str) -> None:
    """In a sentence without the pattern: that may be as secret as what it finds."""
    with pytest.raises(BadPattern) as refused:
        own_rule(pattern)
    assert f" {pattern} " not in f" {refused.value} "


def test_a_file_of_patterns_has_comments_and_empty_lines() -> None:
    """As every other file of this kind."""
    assert [rule.kind for rule in own_rules(["# ours", "", "one two\n", "who = Ada L."])] == ["custom", "who"]


# Pieces of which everything is made that the rules look at.
PIECES = st.sampled_from((
    "xox", "b-", "password", " = ", ": ", '"', "'", "token", "eyJ", ".", "-", "_", "://", ":", "@", "AKIA", "sk-",
    "ant-", "-----BEGIN ", "PRIVATE KEY", "-----", "-----END ", "\n", "[redacted:", "]", "12345678", "abcdefgh",
    LETTERS[:40], "secret", "bearer ", "ghp_", " ", "hunter2", "words we were given",
    "\u200b", "\u200d", "\x00", "k9-QrT_72b", "4111 1111 1111 1111", "DE89370400440532013000", "curl -u ", "a:b",
    "machine x login y ", "DB_PASS=", "<password>", "</", "value", "kind: secret", "adafruit_", "パスワード", "is ",
))  # fmt: skip
ANYTHING = st.lists(PIECES | st.text(string.printable, max_size=8), max_size=40).map("".join)
BOTH = Redactor(["words we were given", "k9-QrT_72b"], own_rules(["CUST-####", "net = db*.corp"]))


@given(ANYTHING)
def test_nothing_is_hidden_twice(text: str) -> None:
    """Done again, as at the next door, it finds nothing."""
    once = BOTH(text)

    assert BOTH(once.text) == (once.text, ())


@given(ANYTHING, st.sampled_from([secret for _, secret in SECRETS]), ANYTHING)
def test_a_secret_is_found_in_anything(before: str, secret: str, after: str) -> None:
    """Whatever else the message says."""
    assert secret not in BOTH(f"{before} {secret} {after}").text


@given(ANYTHING)
def test_nothing_but_secrets_goes(text: str) -> None:
    """Between the marks stands what stood there before, in its order."""
    shown = BOTH(text).text
    rest = _UNSEEN.sub("", text) if shown != text else text

    for part in MARKED.split(shown):
        kept = part if part in rest else _UNSEEN.sub("", part)
        assert kept in rest
        rest = rest[rest.index(kept) + len(kept) :]


@pytest.mark.parametrize(
    "piece",
    ["password: ", "token = ", "-eyJ", "eyJaaaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "://a:", "AKIA", "sk-", "a",
     "SG.aaaaaaaaaaaaaaaaaaaa.", "secret_access_", "authorization:", "[redacted:x]", "CUST-123",
     "dbdb.", "\\n", "AKIA a/", "Bearer Bearer ", 'password="', "password='\"", "akia " + "aB3d" * 10 + " ",
     "4111 ", "4111111111111111", "DE89 3704 ", "curl -u a:", "curl -u ", "machine x login ", "machine machine ",
     "kind: secret\n a: ", " a: YWRhbG92ZWxhY2U=\n", "<password>", "DB_PASSWORD\n value: ", "adafruit_",
     "sl.sl.sl.", "pk.aaaa",
     "password\\", "passwordis ", '"auth":"', "パスワードは", "sc_aaaaa.", "authorization: "],
)  # fmt: skip
def test_the_longest_message_takes_no_time_worth_mentioning(piece: str) -> None:
    """Nobody can keep the bot busy with a message: the work grows with the text, and no faster."""
    grows_no_faster(BOTH, lambda size: piece * (size // len(piece)), 25_000)
