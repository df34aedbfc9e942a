"""
Secrets out of text, JSON and headers; pure, idempotent, linear in the input.

A secret is found in two ways, and either is enough:

- *by place* (`pattern`, `pem`): the value of a sensitive member, parameter or header,
  credentials behind a scheme, a JWT, a private key block;
- *by value* (`value`): every secret the run knows, wherever and however it is
  written: plain, percent-encoded, JSON-escaped, or inside base64.

Where the two ends of a secret cannot be told, more is taken away, never less.
Known and left alone: JSON members ``code`` and ``state`` (JSON-RPC owns the first;
in URLs and forms both are secrets) and ``token`` alone, MCP's ``requestState`` and
``progressToken``, and numbers under a name told by its last word (``page_token``).
"""

from __future__ import annotations

from mcpconf.redaction.name import PLACEHOLDER
from mcpconf.redaction.stream import Redactor, redact_text
from mcpconf.redaction.tree import collect, redact_headers, redact_json
from mcpconf.redaction.value import NONE, Secrets

__all__ = [
    "NONE",
    "PLACEHOLDER",
    "Redactor",
    "Secrets",
    "collect",
    "redact_headers",
    "redact_json",
    "redact_text",
]
