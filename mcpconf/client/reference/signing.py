"""
Keys and what is signed with them: assertions (RFC 7523) and DPoP proofs (RFC 9449).

Everything is ES256, which every server of the two extensions has to offer first.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

if TYPE_CHECKING:
    from collections.abc import Mapping

    Key: TypeAlias = ECKey

ALGORITHM = "ES256"
_ASSERTION_S = 60


def base64url(data: bytes) -> str:
    """Base64 for addresses, without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def new_id() -> str:
    """An identifier that no other has: 128 bits of chance."""
    return secrets.token_urlsafe(16)


def load_key(pem: str) -> Key:
    """
    The private key of a PEM text.

    :raises ValueError: it is none.
    """
    return ECKey.import_key(pem)


def client_assertion(key: Key, client_id: str, audience: str) -> str:
    """What authenticates a client without a secret (RFC 7523, section 3)."""
    now = int(time.time())
    claims = {
        "iss": client_id,
        "sub": client_id,
        "aud": audience,
        "iat": now,
        "exp": now + _ASSERTION_S,
        "jti": new_id(),
    }
    return jwt.encode({"alg": ALGORITHM, "typ": "JWT"}, claims, key)


class Proofs:
    """The proofs of one key, and the nonces that servers want in them."""

    def __init__(self) -> None:
        self._key = ECKey.generate_key("P-256")
        self._nonces: dict[str, str] = {}

    @property
    def thumbprint(self) -> str:
        """Of the public key: what a token is bound to (RFC 7638)."""
        return self._key.thumbprint()

    def make(self, method: str, url: str, token: str | None = None) -> str:
        """A proof for one request; with the token that it presents, if any."""
        header = {
            "typ": "dpop+jwt",
            "alg": ALGORITHM,
            "jwk": self._key.as_dict(private=False),
        }
        return jwt.encode(header, self.claims(method, url, token), self._key)

    def claims(self, method: str, url: str, token: str | None) -> dict[str, Any]:
        """What a proof says (RFC 9449, section 4.2)."""
        target = urlsplit(url)
        claims: dict[str, Any] = {
            "jti": new_id(),
            "htm": method,
            "htu": f"{target.scheme}://{target.netloc}{target.path}",
            "iat": int(time.time()),
        }
        if token is not None:
            claims["ath"] = base64url(hashlib.sha256(token.encode("ascii")).digest())
        nonce = self._nonces.get(target.netloc)
        if nonce is not None:
            claims["nonce"] = nonce
        return claims

    def take_nonce(self, url: str, headers: Mapping[str, str]) -> bool:
        """Keep the nonce of an answer from `url`; whether there is a new one."""
        server, nonce = urlsplit(url).netloc, headers.get("DPoP-Nonce")
        if nonce is None or self._nonces.get(server) == nonce:
            return False
        self._nonces[server] = nonce
        return True
