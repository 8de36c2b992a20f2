"""Follow-up questions: each made self-standing, each answered from documents alone."""

from grounded_rag.conversation.conversation import (
    Conversation,
    ConversationEvent,
    Outdated,
    Rewriter,
    Turn,
    Understood,
)
from grounded_rag.conversation.follow_ups import stand_alone
from grounded_rag.conversation.rewriting import PromptRewriter, RuleRewriter

__all__ = [
    "Conversation",
    "ConversationEvent",
    "Outdated",
    "PromptRewriter",
    "Rewriter",
    "RuleRewriter",
    "Turn",
    "Understood",
    "stand_alone",
]
