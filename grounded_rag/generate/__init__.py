"""Generators: from a question and retrieved chunks to a draft of claims."""

from grounded_rag.generate.extractive import ExtractiveGenerator

__all__ = ["ExtractiveGenerator"]
