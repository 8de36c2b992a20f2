"""What all support checks share about one claim: computed once, cached by its texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.language import comparable
from grounded_rag.text.sentences import split_sentences
from grounded_rag.verification.support.alignment import Alignment, align, weight
from grounded_rag.verification.support.matching import covered
from grounded_rag.verification.support.terms import Reading, Term, clean, joined, read

_MAX_SENTENCES = 60
_CANDIDATES = 4
_JOINED_TERMS = 90


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of the claim with the evidence it aligns with best.

    Attributes:
        reading: The sentence.
        best: Its alignment with the nearest sentence of the evidence.
        coverage: Share of its content weight found anywhere in the evidence, 0 to 1.
        uncovered: Its content terms that the evidence lacks.
    """

    reading: Reading
    best: Alignment
    coverage: float
    uncovered: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """A claim beside all of its evidence.

    Attributes:
        statements: The sentences of the claim.
        evidence: Each sentence of the evidence.
        whole: All evidence as one text.
        chunk: Text of the cited chunks around the evidence: context, never evidence.
        context: Titles and headings: context for names, never evidence.
        question: The question, or an empty reading.
        comparable: Whether words can be compared: same script, and no two known languages.
        quotes: The located quotes as one text.
    """

    statements: tuple[Statement, ...]
    evidence: tuple[Reading, ...]
    whole: Reading
    chunk: Reading
    context: Reading
    question: Reading
    comparable: bool
    quotes: Reading

    @property
    def near(self) -> float:
        """Nearness of the statement that strays furthest."""
        return min((statement.best.near for statement in self.statements), default=0.0)


def analyse(case: ClaimCase) -> Analysis:
    """Return the shared analysis of a case."""
    sentences = tuple(dict.fromkeys(piece.sentence for piece in case.evidence))
    chunks = tuple(dict.fromkeys(piece.chunk.chunk.text for piece in case.evidence))
    context = tuple(
        dict.fromkeys(
            text
            for piece in case.evidence
            for text in (piece.chunk.title, *piece.chunk.chunk.headings)
            if text
        )
    )
    quotes = tuple(dict.fromkeys(piece.located.quote for piece in case.evidence))
    return _analyse(case.claim.text, sentences, chunks, context, case.question or "", quotes)


@lru_cache(maxsize=512)
def _analyse(
    claim: str,
    sentences: tuple[str, ...],
    chunks: tuple[str, ...],
    context: tuple[str, ...],
    question: str,
    quotes: tuple[str, ...],
) -> Analysis:
    whole_text = "\n".join(sentences)
    same_words = comparable(clean(claim), clean(whole_text)) or _shares_words(claim, whole_text)
    language = read(whole_text).language or read("\n".join(chunks)).language
    if not same_words:
        language = None
    parts = [part for sentence in sentences for part in _split(sentence)][:_MAX_SENTENCES]
    evidence = tuple(read(part, language) for part in parts) or (read("", language),)
    whole = joined(evidence)
    statements = tuple(
        _statement(read(part, read(claim).language or language), evidence, whole)
        for part in _split(claim)
    )
    return Analysis(
        statements,
        evidence,
        whole,
        read("\n".join(chunks), language),
        read("\n".join(context), language),
        read(question),
        same_words,
        read("\n".join(quotes), language),
    )


def _shares_words(claim: str, evidence: str) -> bool:
    """Whether the words themselves show one language: a guess at short texts can be wrong."""
    ours = {term.stem for term in read(claim).content if term.kind == "word" and not term.name}
    theirs = {term.stem for term in read(evidence).terms}
    return len(ours & theirs) > len(ours) / 2


def _split(text: str) -> tuple[str, ...]:
    spans = split_sentences(text)
    return tuple(part for part in (span.of(text) for span in spans) if part.strip()) or (text,)


def _statement(claim: Reading, evidence: tuple[Reading, ...], whole: Reading) -> Statement:
    uncovered = tuple(term for term in claim.content if not covered(term, whole))
    total = sum(weight(term) for term in claim.content)
    missing = sum(weight(term) for term in uncovered)
    stems = {term.stem for term in claim.content}
    ranked = sorted(evidence, key=lambda text: -len(stems & {term.stem for term in text.content}))[
        :_CANDIDATES
    ]
    if len(evidence) > 1 and len(whole.terms) <= _JOINED_TERMS:
        ranked.append(whole)
    best = max((align(claim, text) for text in ranked), key=lambda found: found.near)
    return Statement(claim, best, 1 - missing / total if total else 1.0, uncovered)
