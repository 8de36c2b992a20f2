"""Follow-up questions: each made self-standing, each answered from documents alone."""

from grounded_rag.conversation.conversation import Conversation
from grounded_rag.conversation.prompted import PromptRewriter
from grounded_rag.conversation.rules import RuleRewriter, stand_alone
from grounded_rag.conversation.turns import ConversationEvent, Outdated, Rewriter, Turn, Understood

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
