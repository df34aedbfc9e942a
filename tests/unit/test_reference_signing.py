"""What the reference client signs, read as a server would."""

from __future__ import annotations

import base64
import json
import time

import pytest

pytest.importorskip("joserfc", reason="the reference client's library is not here")

from joserfc import jwt
from joserfc.jwk import ECKey

from mcpconf.client.reference.signing import Proofs, client_assertion

URL = "http://127.0.0.1:1/mcp"
#: Of RFC 9449, section 7.1.
TOKEN = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"  # noqa: S105 (published)
TOKEN_HASH = "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"  # noqa: S105 (published)


def read(proof: str) -> jwt.Token:
    """Its header and claims, verified with the key that it shows."""
    head = proof.partition(".")[0]
    shown = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["jwk"]
    return jwt.decode(proof, ECKey.import_key(shown), algorithms=["ES256"])


def test_a_proof_says_what_it_is_for() -> None:
    proof = read(Proofs().make("POST", f"{URL}?query#fragment", TOKEN))

    assert proof.header["typ"] == "dpop+jwt"
    assert set(proof.header["jwk"]) == {"kty", "crv", "x", "y"}
    assert (proof.claims["htm"], proof.claims["htu"]) == ("POST", URL)
    assert proof.claims["ath"] == TOKEN_HASH
    assert abs(proof.claims["iat"] - time.time()) < 300
    assert "nonce" not in proof.claims


def test_no_two_proofs_have_one_id() -> None:
    proofs = Proofs()
    ids = {read(proofs.make("POST", URL)).claims["jti"] for _ in range(20)}
    assert len(ids) == 20


def test_a_nonce_is_kept_for_the_server_that_gave_it() -> None:
    proofs = Proofs()

    assert proofs.take_nonce(f"{URL}/deeper", {"DPoP-Nonce": "first"})
    assert not proofs.take_nonce(URL, {"DPoP-Nonce": "first"})
    assert not proofs.take_nonce(URL, {})
    assert read(proofs.make("POST", URL)).claims["nonce"] == "first"
    assert "nonce" not in read(proofs.make("POST", "http://127.0.0.1:2/")).claims


def test_an_assertion_is_short_lived_and_for_one_server() -> None:
    key = ECKey.generate_key("P-256")
    claims = jwt.decode(
        client_assertion(key, "me", "http://as.example"), key, algorithms=["ES256"]
    ).claims

    assert (claims["iss"], claims["sub"]) == ("me", "me")
    assert claims["aud"] == "http://as.example"
    assert claims["exp"] - claims["iat"] == 60
