"""A language model as judge: does the cited text support the claim, and nothing else."""

from grounded_rag.judge.llm import LLMJudge

__all__ = ["LLMJudge"]
