"""grounded_rag: answers that can be checked, each claim with a verified quote, or a refusal."""

__version__ = "0.1.0"
