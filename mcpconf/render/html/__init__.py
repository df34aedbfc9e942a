"""A report as one HTML file that needs nothing else."""

from __future__ import annotations

from mcpconf.render.html.load import load_transcripts
from mcpconf.render.html.page import render
from mcpconf.render.html.transcript import Moment, Step, Transcript

__all__ = ["Moment", "Step", "Transcript", "load_transcripts", "render"]
