"""
What another repository needs to judge its own client with mcpconf.

`config` reads ``[tool.mcpconf]``; `action` and `outcome` are what the GitHub Action at
the repository's root calls. The sessions are in `mcpconf.nox`, the tasks in
`mcpconf.tasks`. See ``docs/adopt.md`` and ``docs/ci.md``.
"""
