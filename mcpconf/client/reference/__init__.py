"""
A small client that does the authorization extensions of MCP, for the suite to judge.

A library for its own program alone: `requests` for HTTP and `joserfc` for signatures,
in an environment of its own. Each rule of an extension is one small method; overriding
one makes a client that breaks just that rule, and ``fixtures/clients/authorization``
is a collection of those.

==================  =============================================================
module              what it knows
==================  =============================================================
`web`               one bounded HTTP exchange
`challenge`         ``WWW-Authenticate``
`discovery`         the metadata of a resource and of its authorization server
`signing`           keys, signed assertions, proofs of possession and their nonces
`authorizer`        a token: asking for it, presenting it; the plain grants
`dpop`              the authorization code, bound to a key (SEP-1932)
`session`           MCP itself, in both eras
`program`           which of these plays which scenario
==================  =============================================================
"""
