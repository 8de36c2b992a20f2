"""The scorers that need no model of the user's."""

from __future__ import annotations

from grounded_rag.evaluation.factuality.blend import Blend
from grounded_rag.evaluation.factuality.combine import Scorers
from grounded_rag.evaluation.factuality.scorers import LexicalSupport


def builtin_scorers() -> Scorers:
    """Return the built-in scorers: an ordering by words and meaning, and no entailment.

    Faithfulness is the lexical support score. Both conditional scores are the blend with the
    built-in embedding, or by words alone where that cannot be loaded: without a model that knows
    the subject, all there is to say about a claim that looks unfaithful is how sure that is.
    """
    from grounded_rag.index.embedding import default_embedding

    embedding = default_embedding().embedding
    name = "" if embedding is None else f"{embedding.model_name}:{embedding.variant}"
    blend = Blend(embedding, name=name)
    return Scorers(faithful=LexicalSupport(), if_faithful=blend, if_unfaithful=blend)
