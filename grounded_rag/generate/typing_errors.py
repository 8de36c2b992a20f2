"""Mistyped words of a question, read as the words of the passages that they were meant to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grounded_rag.generate.candidates import Candidate
from grounded_rag.generate.question import is_common
from grounded_rag.text.language import guess_language
from grounded_rag.text.spelling import nearest_term, replaced, suspects
from grounded_rag.text.words import tokenize


def as_meant(question: str, candidates: Sequence[Candidate]) -> str:
    """Return a question with its mistyped words replaced by words of the passages.

    Only what is compared changes; what is asked is quoted as it stands.

    Args:
        question: The question, or a part of it.
        candidates: What it may be answered with.
    """
    if guess_language(question) not in ("en", None):
        return question
    words = tokenize(question)
    doubtful = [word for word in suspects(words, known=()) if not is_common(word.lower)]
    if not doubtful:
        return question
    texts = dict.fromkeys(
        text for one in candidates for text in (one.text, one.context, one.headings)
    )
    there = Counter(word.lower for text in texts for word in tokenize(text))
    changes: dict[str, str] = {}
    for word in doubtful:
        if word.lower in there:
            continue
        near = nearest_term(word, {t: n for t, n in there.items() if t[0] == word.lower[0]})
        if near is not None:
            changes[word.lower] = near
    return replaced(question, words, changes)
