"""Secrets are taken out of every place and form, and nothing else is."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import pytest

from mcpconf.redaction import (
    NONE,
    PLACEHOLDER,
    Redactor,
    Secrets,
    collect,
    redact_headers,
    redact_json,
    redact_text,
    stream,
)

if TYPE_CHECKING:
    from mcpconf.decode import Json

KEY = (
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n"
    "c2VjcmV0c2VjcmV0\n"
    "-----END PRIVATE KEY-----"
)
JWT = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln-bmF0dXJl_"


def nested(value: Json, depth: int) -> str:
    text = json.dumps(value)
    for _ in range(depth):
        text = json.dumps({"inner": text})
    return text


# By place: names


@pytest.mark.parametrize(
    "name",
    [
        "access_token",
        "accessToken",
        "registration_access_token",
        "refresh_token",
        "id_token",
        "idp_id_token",
        "idpIdToken",
        "client_secret",
        "clientSecret",
        "private_key",
        "private_key_pem",
        "privateKeyPem",
        "client_assertion",
        "assertion",
        "subject_token",
        "actor_token",
        "valid_jwt",
        "wrong_audience_jwt",
        "expired_jwt",
        "password",
        "code_verifier",
        "codeVerifier",
        "device_code",
        "api_key",
        "apiKey",
        "x-api-key",
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "secretAccessKey",
        "api_token",
        "EXAMPLE_API_TOKEN",
        "exampleToken",
        "APIToken",
        "X-Custom-Token",
        "--api-token",
        "app.token",
        "MY_SECRET",
        "appSecret",
        "secret",
        "aws_credentials",
        "userCredential",
        "db_passwd",
        "authorization",
        "cookie",
        "dpop",
    ],
)
@pytest.mark.parametrize(
    "template",
    [
        '{{"{}":"{}","next":"kept"}}',
        '{{\\"{}\\": \\"{}\\",\\"next\\":\\"kept\\"}}',
        "{{\\u0022{}\\u0022:\\u0022{}\\u0022,\\u0022next\\u0022:\\u0022kept\\u0022}}",
        "%7B%22{}%22%3A%22{}%22%2C%22next%22%3A%22kept%22%7D",
        "{{'{}': '{}', 'next': 'kept'}}",
        "first=1&{}={}&next=kept",
        "redirect_uri=http%3A%2F%2Fa%2Fb%3F{}%3D{}%26next%3Dkept",
        'Settings {{ {} = Some("{}"), next: kept }}',
    ],
)
def test_sensitive_name_loses_its_value_and_keeps_its_neighbours(
    name: str, template: str
) -> None:
    text = template.format(name, "hidden-value")

    assert redact_text(text) == template.format(name, PLACEHOLDER)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("EXAMPLE_API_TOKEN=*", None),
        ("EXAMPLE_API_KEY=*", None),
        ("failed: MY_SECRET: * (again)", None),
        ("> X-Custom-Token: *\n> next: kept", None),
        ("api key: *", None),
        ('{"my token": "*", "app credentials": "*", "next": "kept"}', None),
        ("run --token=* --next kept", None),
        ("run --token * --next kept", None),
        ("run --api-key '*' --password \"*\" kept", None),
        ('["run", "--token", "*", "kept"]', None),
        ("['--client-secret', '*', 'kept']", None),
        ('["--token",\n  "*",\n  "kept"]', None),
        ("run --token --next kept", "run --token --next kept"),
        ('["--token", "--next", "kept"]', '["--token", "--next", "kept"]'),
        (
            "run --max-tokens 5 --token-type kept",
            "run --max-tokens 5 --token-type kept",
        ),
    ],
)
def test_last_word_of_a_name_tells_a_secret(text: str, redacted: str | None) -> None:
    """Whatever comes before: of a member, a header, a variable or a long option."""
    expected = redacted or text.replace("*", PLACEHOLDER)

    assert redact_text(text.replace("*", "hidden-value")) == expected
    assert redact_text(expected) == expected
    redactor = Redactor()
    lines = text.replace("*", "hidden-value").splitlines(keepends=True)
    assert "".join(map(redactor.feed, lines)) + redactor.close() == expected


@pytest.mark.parametrize("name", ["code", "state", "token", "code_challenge"])
@pytest.mark.parametrize(
    "template",
    [
        "http://127.0.0.1/callback?{}={}&iss=kept",
        "GET /callback?iss=kept&{}={} HTTP/1.1",
        "http://127.0.0.1/callback#{}={}",
        "{}={}&client_id=kept",
        "{}={}",
        '{{"body":"{}={}"}}',
        "['{}={}', 'kept']",
        "sent {}={}&client_id=kept",
        "?next=http%3A%2F%2Fa%2Fb%3F{}%3D{}%26iss%3Dkept",
        "?next=http%253A%252F%252Fa%253F{}%253D{}%2526iss%253Dkept",
        "?next=http%253A%252F%252Fa%253Fiss%253Dkept%2526{}%253D{}%26n=kept",
        "a=b\\u0026{}={}\\u0026iss=kept",
    ],
)
def test_parameter_is_redacted_in_urls_and_forms(name: str, template: str) -> None:
    assert redact_text(template.format(name, "hidden")) == template.format(
        name, PLACEHOLDER
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"error":{"code":-32602,"message":"Invalid params"}}',
        '{"code":"ECONNREFUSED","state":"running","requestState":"opaque"}',
        '{"token_type":"Bearer","expires_in":3600,"client_secret_expires_at":0}',
        "redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback&response_type=code&scope=a",
        "code_challenge_method=S256&client_assertion_type=urn%3Aietf",
        "the client ended with exit code=1 after 3 s",
        'WWW-Authenticate: Bearer scope="a b", resource_metadata="http://a/b"',
        'DPoP algs="ES256", error="invalid_token"',
        'Bearer realm="mcp", Basic realm="mcp"',
        "Client sent Basic auth header; DPoP proof; Bearer tokens.",
        "error=invalid_token: invalid_token: the token has ended",
        "Token response MUST include access_token and token_type",
        "assertion: the server answers",
        "secret: the server answers; credentials: none were sent; token: none",
        "resource-parameter-in-token: the token names its audience",
        "the password was sent, --verbose",
        '{"progressToken":"p","progress_token":"p","max_tokens":5,"maxTokens":"five"}',
        '{"page_token":5,"nextToken":-1.5e3,"a_secret":null,"tokens":"five"}',
        '{"oauth-client-credentials":{},"token_endpoint":"http://a/token"}',
        '{"grant_types":["password","refresh_token"],"required":["api_key"]}',
        '{"properties":{"password":{"type":"string"}}}',
        '{"access_token":null,"id_token":"","password":false}',
        "access_token=&refresh_token: None, id_token: null",
        '{"message":"enter your password:","next":"kept"}',
        '{"message":"say \\"password:\\"","next":"kept"}',
        '{"nextCursor":"eyJwYWdlIjoyfQ==","_meta":{"progressToken":"p"}}',
        "-----BEGIN PUBLIC KEY-----\nMIGH\n-----END PUBLIC KEY-----",
        "https://example.test:8080/a@b http://[::1]:3000/mcp",
        "oauth2::access_token::new",
    ],
)
def test_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize("depth", range(7))
def test_escaped_json_is_seen_through_at_any_depth(depth: int) -> None:
    def message(value: str) -> Json:
        return {"a": 'x\\"', "access_token": value, "b": "kept\\"}

    redacted = redact_text(nested(message('a\\"b\\'), depth))

    assert redacted == nested(message(PLACEHOLDER), depth)


def test_member_that_is_not_a_string_stays_json() -> None:
    text = '{"password":12345,"api_key":[1,"two",[null]],"cookie":["a=b"],"n":1}'

    assert json.loads(redact_text(text)) == {
        "password": PLACEHOLDER,
        "api_key": [PLACEHOLDER, PLACEHOLDER, [None]],
        "cookie": [f"a={PLACEHOLDER}"],
        "n": 1,
    }


def test_member_value_on_a_later_line_is_redacted() -> None:
    text = (
        '{"password":\n\n "one",\n"api_key": [\n  "two",\n  "three"\n],\n"n": "kept"}'
    )

    redacted = redact_text(text)

    assert json.loads(redacted) == {
        "password": PLACEHOLDER,
        "api_key": [PLACEHOLDER, PLACEHOLDER],
        "n": "kept",
    }
    redactor = Redactor()
    lines = text.splitlines(keepends=True)
    assert "".join(map(redactor.feed, lines)) + redactor.close() == redacted


def test_array_that_is_cut_off_by_the_string_around_it_stays_json() -> None:
    value = {"password=[\\u0022": None, 'api_key: ["a': 1, "n": 'cookie=["b"]'}

    redacted = json.loads(redact_text(json.dumps(value)))

    assert list(redacted.values())[:2] == [None, 1]


def test_member_name_that_ends_in_a_backslash_stays_json() -> None:
    assert json.loads(redact_text('{"password\\\\":0,"n":1}')) == {
        "password\\": PLACEHOLDER,
        "n": 1,
    }


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ('password="unclosed', "password=" + '"' + PLACEHOLDER),
        ('{"password":"unclosed\nnext', '{"password":"' + PLACEHOLDER + "\nnext"),
        ("password: two words", f"password: {PLACEHOLDER} words"),
        ("password=it's", f"password={PLACEHOLDER}"),
        ('password: ["a", "b"]', f'password: ["{PLACEHOLDER}", "{PLACEHOLDER}"]'),
        ("?password=a#api_key=b", f"?password={PLACEHOLDER}#api_key={PLACEHOLDER}"),
        ("https://user:pass@host/", f"https://user:{PLACEHOLDER}@host/"),
    ],
)
def test_value_ends_where_its_quotation_says(text: str, redacted: str) -> None:
    assert redact_text(text) == redacted


# By place: headers


@pytest.mark.parametrize(
    ("name", "value", "redacted"),
    [
        ("authorization", "Bearer test-token", f"Bearer {PLACEHOLDER}"),
        ("authorization", "bearer plainword", f"bearer {PLACEHOLDER}"),
        ("Authorization", "Basic dTpw", f"Basic {PLACEHOLDER}"),
        ("Proxy-Authorization", "DPoP abc", f"DPoP {PLACEHOLDER}"),
        ("authorization", 'Digest username="u", response="r"', f"Digest {PLACEHOLDER}"),
        ("authorization", "unknown scheme", PLACEHOLDER),
        ("authorization", "Bearer", "Bearer"),
        ("DPoP", JWT, PLACEHOLDER),
        ("x-api-key", "k", PLACEHOLDER),
        ("X-Custom-Token", "k", PLACEHOLDER),
        ("cookie", "a=b; c=d=e", f"a={PLACEHOLDER}; c={PLACEHOLDER}"),
        ("cookie", "nameless", PLACEHOLDER),
        (
            "set-cookie",
            "path=v; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly, c=d",
            "path=*; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly, c=*",
        ),
        ("location", "/cb?code=abc&iss=i", f"/cb?code={PLACEHOLDER}&iss=i"),
        ("www-authenticate", 'Bearer scope="a"', 'Bearer scope="a"'),
        ("mcp-session-id", "session", "session"),
    ],
)
def test_header_keeps_scheme_and_cookie_names(
    name: str, value: str, redacted: str
) -> None:
    """The same as a mapping, in a JSON text, and as a line of a dump."""
    redacted = redacted.replace("*", PLACEHOLDER)
    assert redact_headers({name: value}) == {name: redacted}
    assert redact_headers({name: [value, value]}) == {name: [redacted, redacted]}
    assert json.loads(redact_text(json.dumps({name: value}))) == {name: redacted}
    line = f"> {name}: {value}\r\n> next: kept\r\n"
    if value != "unknown scheme":  # a dump does not tell where this one ends
        assert redact_text(line) == f"> {name}: {redacted}\r\n> next: kept\r\n"


def test_header_line_of_unknown_scheme_is_redacted_to_its_end() -> None:
    assert redact_text("Authorization: one two\nnext") == (
        f"Authorization: {PLACEHOLDER}\nnext"
    )


def test_header_of_an_odd_cookie_is_redacted_once_and_for_all() -> None:
    headers: dict[str, str | list[str]] = {"cookie": "Bearer =; b=c"}

    redacted = redact_headers(headers)

    assert redacted == {"cookie": f"Bearer =; b={PLACEHOLDER}"}
    assert redact_headers(redacted) == redacted


def test_header_name_is_redacted_by_value() -> None:
    assert redact_headers({"x-hidden-value": "v"}, Secrets.of(["hidden-value"])) == {
        f"x-{PLACEHOLDER}": "v"
    }


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("got Bearer test-token, next", f"got Bearer {PLACEHOLDER}, next"),
        ("sent Basic dXNlcjpwYXNz.", f"sent Basic {PLACEHOLDER}"),
        ("DPoP Kz~8mXK1EalYznwH-LC-1fBAo", f"DPoP {PLACEHOLDER}"),
        ("?h=Bearer%20test-token&a=b", f"?h=Bearer%20{PLACEHOLDER}&a=b"),
        ('"Bearer abc1\\/d\\u002B"', f'"Bearer {PLACEHOLDER}"'),
        (f"a {JWT}, b", f"a {PLACEHOLDER}, b"),
        (f"\\n{JWT}\\n", f"\\n{PLACEHOLDER}\\n"),
        ("eyJhbGciOiJkaXIifQ..aXY.Y3Q.dGFn", PLACEHOLDER),
    ],
)
def test_credential_is_recognised_without_a_name(text: str, redacted: str) -> None:
    assert redact_text(text) == redacted


# By place: private keys


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(str, id="plain"),
        pytest.param(lambda key: json.dumps({"key": key}), id="json"),
        pytest.param(lambda key: nested({"key": key}, 3), id="deep-json"),
        pytest.param(quote, id="percent"),
        pytest.param(quote_plus, id="form"),
        pytest.param(lambda key: key.replace("PRIVATE", "RSA PRIVATE"), id="rsa"),
        pytest.param(lambda key: key.partition("-----END")[0], id="cut-off"),
        pytest.param(lambda key: f"Bearer {key}", id="as-credential"),
        pytest.param(lambda key: key.replace("\n", "\r\n"), id="crlf"),
    ],
)
def test_private_key_block_is_gone_as_a_whole(write: object) -> None:
    assert callable(write)
    redacted = redact_text(f"first {write(KEY)}")

    assert "MIGH" not in redacted
    assert "c2VjcmV0" not in redacted
    assert "PRIVATE" not in redacted
    assert redacted.startswith("first ")


def test_text_after_a_private_key_block_stays() -> None:
    assert redact_text(f"first\n{KEY}\nlast") == f"first\n{PLACEHOLDER}\nlast"
    assert json.loads(redact_text(json.dumps({"key": KEY, "next": "kept"}))) == {
        "key": PLACEHOLDER,
        "next": "kept",
    }


# By value

HIDDEN = 'p/a+s "w"\\r?d=\u00fc&\U0001f600~'


def base64_of(before: bytes, *, is_urlsafe: bool) -> str:
    encode = base64.urlsafe_b64encode if is_urlsafe else base64.b64encode
    return encode(before + HIDDEN.encode() + b" after").decode()


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(HIDDEN, id="plain"),
        pytest.param(quote(HIDDEN, safe=""), id="percent"),
        pytest.param(quote(quote(HIDDEN, safe="")), id="percent-twice"),
        pytest.param(quote(HIDDEN, safe="").lower(), id="percent-lower-case"),
        pytest.param(quote_plus(HIDDEN), id="form"),
        pytest.param(quote_plus(HIDDEN).lower(), id="form-lower-case"),
        pytest.param("".join(f"%{b:02x}" for b in HIDDEN.encode()), id="percent-all"),
        pytest.param(nested(HIDDEN, 0), id="json"),
        pytest.param(nested(HIDDEN, 6), id="json-deep"),
        pytest.param(json.dumps(HIDDEN, ensure_ascii=False), id="json-utf8"),
        pytest.param(json.dumps(HIDDEN).replace("/", "\\/"), id="json-slash"),
        pytest.param(
            "".join(
                f"\\u{ord(c):04x}" for c in HIDDEN.replace("\U0001f600", "\ud83d\ude00")
            ),
            id="json-all",
        ),
        *(
            pytest.param(
                base64_of(b"x" * offset, is_urlsafe=is_urlsafe),
                id=f"base64-{offset}{'-urlsafe' * is_urlsafe}",
            )
            for offset in range(3)
            for is_urlsafe in (False, True)
        ),
        pytest.param(
            base64.b64encode(f"id:{quote(HIDDEN, safe='')}".encode()).decode(),
            id="base64-of-percent",
        ),
    ],
)
def test_known_secret_is_found_in_every_form(form: str) -> None:
    secrets = Secrets.of({"the one": HIDDEN, "another": "not in there"})
    text = f"first {form} last"

    redacted = redact_text(text, secrets)

    assert form not in redacted
    assert PLACEHOLDER in redacted
    assert redacted.startswith("first ")
    assert redacted.endswith(" last")
    assert secrets.find_in(text.encode()) == ("the one",)
    assert secrets.find_in(redacted.encode()) == ()


@pytest.mark.parametrize(
    ("value", "secret"), [("\nabcdef", "nabcdef"), ("\u00e9abcdef", "e9abcdef")]
)
def test_known_secret_that_begins_inside_an_escape_leaves_json_valid(
    value: str, secret: str
) -> None:
    text = json.dumps({"a": value, "b": "kept"})

    redacted = redact_text(text, Secrets.of([secret]))

    assert json.loads(redacted) == {"a": PLACEHOLDER, "b": "kept"}


def test_placeholder_is_never_part_of_a_known_secret() -> None:
    text = f"{PLACEHOLDER}abcdef"

    assert redact_text(text, Secrets.of(["]abcdef"])) == text


def test_secret_of_several_lines_is_known_line_by_line() -> None:
    secrets = Secrets.of({"key": KEY})

    assert redact_text("c2VjcmV0c2VjcmV0", secrets) == PLACEHOLDER
    assert secrets.find_in(b'"AgEGCCqGSM49AwEHBG0wawIBAQQg"') == ()
    assert secrets.find_in(json.dumps(KEY).encode()) == ("key",)
    assert Secrets.of([KEY.replace("\n", "\\n")]).find_in(KEY.encode())


@pytest.mark.parametrize(
    "value",
    [
        "",
        "short",
        "aaaaaaaaaaaa",
        "ababababab",
        "Bearer",
        "password",
        "2025-11-25",
        "initialize",
        "REDACTED",
        f"x{PLACEHOLDER}y",
        "-----a rule-----",
    ],
)
def test_secret_that_would_destroy_the_log_is_ignored(value: str) -> None:
    secrets = Secrets.of([value])

    assert not secrets
    assert redact_text(f"a {value} b", secrets) == f"a {value} b"


def test_secrets_show_labels_and_never_values() -> None:
    secrets = Secrets.of(["first-one", "second-one"]).union(
        Secrets.of({"again": "first-one", "third": "third-one"})
    )

    assert len(secrets) == 3
    assert secrets
    assert not NONE
    assert secrets.find_in(b"third-one, first-one") == ("secret 1", "third")
    assert "-one" not in repr(secrets)
    assert "-one" not in str(secrets)


def test_basic_credentials_are_gone_where_only_a_part_of_them_was_known() -> None:
    text = "sent Basic " + base64.b64encode(b"client:part-of-it and more").decode()

    redacted = redact_text(text, Secrets.of(["part-of-it"]))

    assert redacted == f"sent Basic {PLACEHOLDER}"
    assert redact_text(redacted) == redacted


def test_overlapping_secrets_are_both_gone() -> None:
    secrets = Secrets.of(["abcdefgh", "efghijkl"])

    assert redact_text("-abcdefghijkl-", secrets) == f"-{PLACEHOLDER}-"


# Trees


def test_json_tree_is_redacted_in_names_values_and_inner_texts() -> None:
    secrets = Secrets.of(["hidden-value", "123456"])
    value: Json = {
        "hidden-value": 1,
        "x hidden-value": 2,
        "access_token": "abc",
        "password": 5,
        "api_key": ["a", {"code": "kept"}],
        "client_secret": None,
        "id_token": True,
        "code": "kept",
        "error": {"code": -32602},
        "n": 123456,
        "requestState": "kept",
        "inner": '{"refresh_token":"abc","n":1}',
        "headers": {"authorization": "Bearer abc", "set-cookie": ["a=b", "c=d"]},
        "list": [1.5, "form hidden-value"],
        "api_token": "abc",
        "page_token": 5,
        "argv": ["--token", "abc", "--api-key", "--next", "kept", "--secret", 5],
    }

    assert redact_json(value, secrets) == {
        PLACEHOLDER: 1,
        f"x {PLACEHOLDER}": 2,
        "access_token": PLACEHOLDER,
        "password": PLACEHOLDER,
        "api_key": [PLACEHOLDER, {"code": "kept"}],
        "client_secret": None,
        "id_token": True,
        "code": "kept",
        "error": {"code": -32602},
        "n": PLACEHOLDER,
        "requestState": "kept",
        "inner": f'{{"refresh_token":"{PLACEHOLDER}","n":1}}',
        "headers": {
            "authorization": f"Bearer {PLACEHOLDER}",
            "set-cookie": [f"a={PLACEHOLDER}", f"c={PLACEHOLDER}"],
        },
        "list": [1.5, f"form {PLACEHOLDER}"],
        "api_token": PLACEHOLDER,
        "page_token": 5,
        "argv": ["--token", PLACEHOLDER, "--api-key", "--next", "kept", "--secret", 5],
    }


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (f"{KEY}) end", PLACEHOLDER),
        ("--next", "--next"),
        ("--next-hidden", f"--next-{PLACEHOLDER}"),
        ("--hidden-one", PLACEHOLDER),
        (f"--{JWT}", f"--{PLACEHOLDER}"),
    ],
)
def test_word_after_an_option_is_its_value_unless_it_is_an_option(
    value: str, kept: str
) -> None:
    secrets = Secrets.of(["--hidden-one", "hidden"])

    redacted = redact_json(["--token", value], secrets)

    assert redacted == ["--token", kept]
    assert redact_json(redacted, secrets) == redacted


def test_json_names_that_differ_only_in_the_secret_stay_apart() -> None:
    value: Json = {"one-secret": 1, "two-secret": 2}

    redacted = redact_json(value, Secrets.of(["one-secret", "two-secret"]))

    assert redacted == {PLACEHOLDER: 1, f"{PLACEHOLDER} (2)": 2}


def test_json_too_deep_is_replaced_and_not_leaked() -> None:
    value: Json = {"access_token": "hidden"}
    for _ in range(5000):
        value = [value]

    redacted = redact_json(value)

    for _ in range(100):
        assert isinstance(redacted, list)
        redacted = redacted[0]
    assert redacted == PLACEHOLDER
    assert collect(value) == set()


# Streams


def test_stream_holds_back_no_more_than_a_line() -> None:
    redactor = Redactor()

    assert redactor.feed("one\npass") == "one\n"
    assert redactor.feed("word=abc") == ""
    assert redactor.feed("\nthree") == f"password={PLACEHOLDER}\n"
    assert redactor.close() == "three"


def test_line_too_long_to_hold_is_replaced_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream, "MAX_LINE", 10)
    text = "0123456789\n0123456789a\nlast line but one\nend"
    expected = f"0123456789\n{PLACEHOLDER}\n{PLACEHOLDER}\nend"

    assert redact_text(text) == expected
    redactor = Redactor()
    assert "".join(map(redactor.feed, text)) + redactor.close() == expected
    redactor.feed("0123456789a")
    redactor.feed("b" * 1000)
    assert sum(map(len, redactor._held)) <= 11


HOSTILE = """
import sys
from mcpconf.redaction import Secrets, redact_text
secrets = Secrets.of(["hidden-value", "ab" * 20 + "c"])
for unit in sys.argv[1:]:
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    redact_text(text, secrets)
"""


@pytest.mark.parametrize(
    "units",
    [
        ("eyJ", "eyJa.", "Basic+", "'code='", "\\"),
        ("%25", 'Cookie: a="', '"password":[', "-----BEGIN ", "ab"),
        ("--a.token ", '"--token",', "--", "_token", "secret \t"),
    ],
)
def test_hostile_text_is_worked_off_in_linear_time(units: tuple[str, ...]) -> None:
    """A megabyte of each takes about a second; were it quadratic, hours."""
    subprocess.run([sys.executable, "-c", HOSTILE, *units], check=True, timeout=120)


# Collecting


@pytest.mark.parametrize(
    ("value", "secrets"),
    [
        ({"headers": {"authorization": "Bearer abc"}}, {"abc"}),
        (
            {"headers": {"authorization": "Basic dTpwJTJGdw=="}},
            {"dTpwJTJGdw==", "p%2Fw", "p/w"},
        ),
        (
            {"headers": {"cookie": "a=b; c=d", "set-cookie": ["e=f; Path=/"]}},
            set("bdf"),
        ),
        ({"headers": {"dpop": JWT}}, {JWT}),
        ({"url": "/cb?code=a%2Fb&state=s&code_challenge=c"}, {"a/b"}),
        (
            {"body": "code=1%2B&code_verifier=2&client_secret=a+b&assertion=4&x=5"},
            {"1+", "2", "a b", "4"},
        ),
        (
            {"body": '{"access_token":"a\\"b","refresh_token":"c","n":"d"}'},
            {'a"b', "c"},
        ),
        ({"body": json.dumps({"password": 12345, "api_key": ["k"]})}, {"12345", "k"}),
        ({"password": 12345, "api_key": ["k"], "id_token": None}, {"12345", "k"}),
        (f"first {KEY} last", {KEY}),
        ("got Bearer test-token", {"test-token"}),
        ("next=http%3A%2F%2Fa%3Fcode%3Da%252Fb", {"a/b"}),
        ({"body": f'{{"access_token":"{PLACEHOLDER}"}}'}, set()),
        ({"argv": ["--token", "a", "--next", "b"], "api_token": ["c", 5]}, set("ac")),
        ("run --token a MY_SECRET=b --next c", set("ab")),
        ({"error": {"code": -32602}, "state": "s"}, set()),
    ],
)
def test_secrets_seen_on_the_wire_are_collected(value: Json, secrets: set[str]) -> None:
    assert collect(value) == secrets


def test_collected_secret_is_redacted_elsewhere() -> None:
    record: Json = {"type": "request", "body": "grant_type=x&code=a%2Fb-c%3Dd"}

    secrets = Secrets.of(collect(record))

    assert redact_json({"code": "a/b-c=d"}, secrets) == {"code": PLACEHOLDER}
