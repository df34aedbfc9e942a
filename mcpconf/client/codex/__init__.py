"""OpenAI Codex as the client under test, driven through ``codex app-server``."""
