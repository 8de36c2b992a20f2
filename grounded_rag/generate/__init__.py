"""Generators: from a question and retrieved chunks to a draft of claims."""

from grounded_rag.generate.extractive import ExtractiveGenerator
from grounded_rag.generate.prompts import PromptSet
from grounded_rag.generate.structured import StructuredGenerator

__all__ = ["ExtractiveGenerator", "PromptSet", "StructuredGenerator"]
