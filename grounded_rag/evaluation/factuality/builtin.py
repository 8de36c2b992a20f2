"""The scorers that are taken where none are named."""

from __future__ import annotations

from grounded_rag.evaluation.factuality.blend import Blend
from grounded_rag.evaluation.factuality.combine import Scorers
from grounded_rag.evaluation.factuality.scorers import (
    EntailmentFaithfulness,
    LexicalSupport,
    MaxEntailment,
)
from grounded_rag.protocols import EntailmentModel


def builtin_scorers(*, entailment: EntailmentModel | None = None) -> Scorers:
    """Return the built-in scorers.

    Without a model, faithfulness is the lexical support score, and both conditional scores are
    the blend with the built-in embedding, or by words alone where that cannot be loaded: an
    ordering, and no entailment. Nothing knows the subject beyond the evidence, so that all there
    is to say about a claim that looks unfaithful is how sure that is.

    Args:
        entailment: An entailment model: faithfulness by the whole evidence, and MaxNLI for
            faithful claims. The blend stays for the others.
    """
    from grounded_rag.index.embedding import default_embedding

    embedding = default_embedding().embedding
    name = "" if embedding is None else f"{embedding.model_name}:{embedding.variant}"
    blend = Blend(embedding, name=name)
    if entailment is None:
        return Scorers(faithful=LexicalSupport(), if_faithful=blend, if_unfaithful=blend)
    return Scorers(
        faithful=EntailmentFaithfulness(entailment),
        if_faithful=MaxEntailment(entailment),
        if_unfaithful=blend,
    )
