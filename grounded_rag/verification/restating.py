"""The source's own statement in the place of a claim that nothing has shown.

What ships then is a claim of its own: one statement, in the source's words, with quotes that hold
all of it. Verified again, it is verbatim. So an honest paraphrase costs nobody an answer, and no
word of the generator ships unproven. A statement about another subject than the question's
answers nothing, and is not shown (`_missing_name`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from grounded_rag.protocols import ClaimCase, EvidencePiece, SupportCheck
from grounded_rag.text.sentences import listed, question_parts
from grounded_rag.text.words import STOPWORDS, comparable, fold_marks, guess_language, stem
from grounded_rag.types import (
    Citation,
    CitationCheck,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Reason,
    Restatement,
    Statement,
    Tier,
)
from grounded_rag.verification.checks import run_checks
from grounded_rag.verification.citations import place_in
from grounded_rag.verification.evidence import Ground
from grounded_rag.verification.neighbours import listed_words
from grounded_rag.verification.passages import Passage, Passages
from grounded_rag.verification.statements import statements_at
from grounded_rag.verification.verbatim import Evidence
from grounded_rag.verification.wording import claim_cells

_WORD = re.compile(r"[^\W_]+(?:['’\-.&][^\W_]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\"“«(]\s*)$")
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_]).+")
_COUNTED = re.compile(r"\d[\d.,]*(?:st|nd|rd|th|s|am|pm|h|[a-z]{1,3})?(?:-\w+)*", re.IGNORECASE)
_CAPITALS_TELL = frozenset("en fr es it pt nl".split())
# Words on each side of a name that say what it names.
_AROUND = 2
# A statement that shares fewer words with the question is about something else, if it lacks the
# name too.
_SHARED = 2
# A name that more of the passages hold, such as that of their publisher, tells nothing.
_MOST_OF_THEM = 0.5
# "Norwegian" holds "Norway": a long name is known by its beginning, and differs in its ending.
_BEGINNING = 5
_ENDING = 4
_NEVER = frozenset(
    {Reason.INJECTED_INSTRUCTION, Reason.NOT_ASSERTED, Reason.NOT_A_STATEMENT, Reason.EMPTY_CLAIM}
)


def with_restatements(
    verdict: ClaimVerdict,
    ground: Ground,
    passages: Passages,
    *,
    question: str | None,
    longest: int,
    checks: Sequence[SupportCheck] = (),
) -> ClaimVerdict:
    """Return a verdict with what may ship in the place of its claim, or why nothing may.

    Its quotes stand in the source; a statement must pass the `checks` as any claim must, and all
    statements together have at most `longest` characters.
    """
    if verdict.reason in _NEVER:
        return verdict.trusted_copy(withheld=verdict.reason)
    made: list[Restatement] = []
    withheld: Reason | None = None
    for each in _with_lists(ground.evidence):
        restated = _restated(each, verdict.claim.text)
        refused = _refused(each, restated, passages, question, checks)
        if refused is None:
            made.append(restated)
        else:
            withheld = withheld or refused
    usable = _outermost(made)
    if sum(len(each.text) for each in usable) > longest:
        usable, withheld = (), Reason.TOO_LONG
    if usable:
        return verdict.trusted_copy(restatements=usable)
    if verdict.supported:
        return verdict
    return verdict.trusted_copy(withheld=withheld or Reason.CUT_CONTEXT)


def shipped_as(verdict: ClaimVerdict) -> tuple[ClaimVerdict, ...]:
    """Return verdicts that say in the source's words what a claim was not shown to say."""
    return tuple(
        ClaimVerdict(
            claim=Claim(
                text=restatement.text,
                citations=tuple(check.citation for check in restatement.citations),
            ),
            citations=restatement.citations,
            statements=(restatement.statement,),
            status=ClaimStatus.SUPPORTED,
            tier=Tier.VERBATIM,
            restated=True,
            why="The source's own words, in the place of a claim that nothing has shown.",
        )
        for restatement in verdict.restatements
    )


def _with_lists(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Put a list in the place of its items where all of them are there, so that it is told once."""
    items: dict[tuple[str, int], list[Evidence]] = {}
    for each in evidence:
        key = each.passage.id, each.found.statement.quotes[0].start
        items.setdefault(key, []).append(each)
    found: list[Evidence] = []
    for (_, start), group in items.items():
        whole = _list_of(group, start) if len(group) > 1 else None
        found += group if whole is None else [whole]
    return found


def _list_of(items: Sequence[Evidence], start: int) -> Evidence | None:
    """Return the list that begins at a place, if its items are these and no others."""
    passage, first = items[0].passage, items[0].found
    lead = first.statement.text.removesuffix(first.core).rstrip()
    told = listed([lead, *(item.found.core for item in items)])
    for found in statements_at(passage, start, start + 1):
        if lead and found.statement.text == told:
            return Evidence(found, passage)
    return None


def _outermost(made: Sequence[Restatement]) -> tuple[Restatement, ...]:
    """Leave out what another restatement says as part of its own, or says again.

    What another one says has its own sentence in one of that one's quotes: so only those are
    compared, and a quote of hundreds of items does not compare each with each.
    """

    def begins(at: int) -> tuple[str, int]:
        return made[at].statement.chunk_id, made[at].statement.span.start

    order = sorted(range(len(made)), key=begins)
    keys = [begins(at) for at in order]
    inside: set[int] = set()
    for at, other in enumerate(made):
        chunk_id = other.statement.chunk_id
        for quote in other.statement.quotes:
            first, last = (bisect_left(keys, (chunk_id, end)) for end in (quote.start, quote.end))
            for each in order[first:last]:
                if each == at or not _says(other, made[each]):
                    continue
                # Of two that say the same the first one stays.
                if at < each or not _says(made[each], other):
                    inside.add(each)
    return tuple(each for at, each in enumerate(made) if at not in inside)


def _says(other: Restatement, each: Restatement) -> bool:
    theirs, mine = other.statement, each.statement
    return theirs.chunk_id == mine.chunk_id and all(
        any(wide.start <= span.start and span.end <= wide.end for wide in theirs.quotes)
        for span in mine.quotes
    )


def _restated(evidence: Evidence, claim: str) -> Restatement:
    found, passage = evidence
    text = found.statement.text
    if found.row is not None and found.alone:
        # Of a row with many cells those that the claim speaks of are enough.
        text = found.row.reading(tuple(claim_cells(claim, found.row)) or None)
    citations = []
    for span in found.statement.quotes:
        located = place_in(passage, span.start, span.end)
        citation = Citation.trusted(chunk_id=located.chunk_id, quote=located.quote)
        citations.append(CitationCheck.trusted(citation=citation, located=located))
    return Restatement.trusted(text=text, statement=found.statement, citations=tuple(citations))


def _refused(
    evidence: Evidence,
    made: Restatement,
    passages: Passages,
    question: str | None,
    checks: Sequence[SupportCheck],
) -> Reason | None:
    """Return why a statement may not be shipped, or None where it may."""
    statement = evidence.found.statement
    if not statement.asserted:
        return Reason.NOT_ASSERTED
    if not statement.whole:
        return Reason.CUT_CONTEXT
    if question and _missing_name(question, statement, evidence.passage, passages) is not None:
        return Reason.BESIDE_QUESTION
    if not checks:
        return None
    pieces = tuple(
        EvidencePiece.trusted(
            citation=check.citation,
            located=check.located,
            sentence=made.text,
            sentence_span=statement.span,
            statements=(statement,),
            chunk=evidence.passage.retrieved,
        )
        for check in made.citations
    )
    case = ClaimCase.trusted(
        claim=Claim.trusted(text=made.text, citations=tuple(c.citation for c in made.citations)),
        evidence=pieces,
        question=question,
        verbatim=True,
    )
    for signal in run_checks(case, checks):
        if signal.role == "veto" and signal.passed is not True:
            return signal.reason or Reason.COULD_NOT_CHECK
    return None


class _Name(NamedTuple):
    """A name that a question asks about, with the words around it that say what it names."""

    text: str
    frame: frozenset[str]


def _missing_name(
    question: str, statement: Statement, passage: Passage, shown: Iterable[Passage]
) -> str | None:
    """Return a name of the question that a statement is not about, or None.

    A name, place or code of the question that neither the statement nor its headings or title
    hold says no where another name stands in its place ("the Ombudsman of Merrowland" for "the
    Ombudsman of Norvale"), or where hardly another word of the question is there. A name that only
    tells where the asker is ("I'm moving to Canada") has neither, and costs no answer. A name that
    most passages hold, such as that of the organisation they come from, tells nothing.
    """
    parts = [span.of(question) for span in question_parts(question)]
    # A statement answers one part of a question; what the others ask about is no matter of its own.
    if len(parts) > 1:
        held = _held(statement, passage)
        parts = [part for part in parts if _subject_words(part) & held] or [question]
    missing = [_missing(part, statement, passage, shown) for part in parts]
    return missing[0] if all(missing) else None


def _missing(
    question: str, statement: Statement, passage: Passage, shown: Iterable[Passage]
) -> str | None:
    names = _asked_names(question)
    if not names:
        return None
    around = (statement.text, *statement.headings, passage.retrieved.title)
    held = _held(statement, passage)
    absent = [
        name
        for name in names
        if not _holds(held, name.text) and not any(_spells_out(text, name.text) for text in around)
    ]
    if not absent:
        return None
    given = _stems("\n".join(v for v in passage.retrieved.metadata.values() if isinstance(v, str)))
    passages = [
        _stems("\n".join((other.text, other.retrieved.title, *other.chunk.headings)))
        for other in shown
    ]
    shared = _subject_words(question) & held
    comparable_words = comparable(question, statement.text)
    for name in absent:
        common = sum(_holds(stems, name.text) for stems in passages)
        if _holds(given, name.text) or (
            len(passages) > 1 and common > _MOST_OF_THEM * len(passages)
        ):
            continue
        if (comparable_words and len(shared) < _SHARED) or _has_rival(
            name, around, question, passage.text
        ):
            return name.text
    return None


def _spells_out(text: str, name: str) -> bool:
    """Whether a text has the words that a short name stands for: "Subject Alternate Name"."""
    if not (name.isalpha() and name.isupper()):
        return False
    initials = "".join(word[0] if word[0].isupper() else " " for word in _WORD.findall(text))
    return name in initials


def _held(statement: Statement, passage: Passage) -> frozenset[str]:
    return _stems("\n".join((statement.text, *statement.headings, passage.retrieved.title)))


@lru_cache(maxsize=256)
def _asked_names(question: str) -> tuple[_Name, ...]:
    """Return the names, places and codes that a question asks about.

    Where nouns have capitals, as in German, or everything has, capitals tell nothing.
    """
    words = list(_WORD.finditer(question))
    capitals = sum(word[0][0].isupper() for word in words)
    telling = guess_language(question) in _CAPITALS_TELL and capitals <= max(
        2, len(words) * _MOST_OF_THEM
    )
    common = listed_words("common_capitals", "words")
    found: dict[str, _Name] = {}
    for at, word in enumerate(words):
        text = word[0].removesuffix("'s").removesuffix("’s")
        plain = text.lower().partition("'")[0].partition("’")[0]
        if len(text) < 2 or plain in common or plain.removesuffix("s") in common:
            continue
        starts = _SENTENCE_START.search(question[: word.start()]) is not None
        code = _CODE.fullmatch(text) is not None and _COUNTED.fullmatch(text) is None
        if code or (telling and text[0].isupper() and not starts):
            near = words[max(0, at - _AROUND) : at] + words[at + 1 : at + 1 + _AROUND]
            frame = frozenset(
                stem(other[0].lower(), None)
                for other in near
                if other[0].lower() not in STOPWORDS and other[0] != word[0]
            )
            found[text] = _Name(text, frame)
    return tuple(found.values())


def _has_rival(name: _Name, around: tuple[str, ...], question: str, passage: str) -> bool:
    """Whether another name stands among the words that stand around this one in the question."""
    asked = {word.lower() for word in _WORD.findall(question)}
    lower = _small_words(passage)
    for text in around:
        words = _WORD.findall(text)
        for at, word in enumerate(words):
            if not word[0].isupper() or word.lower() in asked or word.lower() in STOPWORDS:
                continue
            if word.lower() in lower or not word.isalpha():
                # A word that the passage also writes small is no name.
                continue
            near = words[max(0, at - _AROUND) : at] + words[at + 1 : at + 1 + _AROUND]
            if any(stem(other.lower(), None) in name.frame for other in near):
                return True
    return False


@lru_cache(maxsize=64)
def _small_words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text) if word.islower())


@lru_cache(maxsize=256)
def _subject_words(question: str) -> frozenset[str]:
    return frozenset(
        stem(word, None)
        for word in _WORD.findall(fold_marks(question.lower()))
        if word not in STOPWORDS | listed_words("asking", "words") and not word[0].isdigit()
    )


@lru_cache(maxsize=512)
def _stems(text: str) -> frozenset[str]:
    return frozenset(
        stem(part, None)
        for word in _WORD.findall(fold_marks(text.lower()))
        for part in {word, *_parts(word)}
    )


def _parts(word: str) -> list[str]:
    return re.split(r"['’\-.&]", word)


def _holds(stems: frozenset[str], name: str) -> bool:
    plain = fold_marks(name.lower())
    wanted = stem(plain, None)
    if wanted in stems:
        return True
    parts = [stem(part, None) for part in _parts(plain) if part]
    if len(parts) > 1 and all(part in stems for part in parts):
        return True
    # "Norwegian" for "Norway": the beginning of a long name is enough to hold it.
    return len(wanted) > _BEGINNING and any(
        known.startswith(wanted[:_BEGINNING]) and abs(len(known) - len(wanted)) <= _ENDING
        for known in stems
    )
