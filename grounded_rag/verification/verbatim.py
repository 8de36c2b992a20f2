"""Whether a claim is one whole statement of its source, word for word but for licensed edits.

The words of the claim and those of exactly one statement must be the same in the same order; what
differs must be licensed (`licences`). Nothing is guessed: an edit that nobody listed makes the
claim open, not false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.values import may_be_value
from grounded_rag.text.words import guess_language
from grounded_rag.verification.licences import (
    LONG_WORD,
    TOKEN,
    Licences,
    Names,
    licences_of,
    may_vanish,
    names_for,
    tokens,
)
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.statements import Found
from grounded_rag.verification.wording import clean_wording, names_cell, reads_cells, without_marks

_SPOKEN = re.compile(r"\w+(?:['’]\w+)*")
# Bounds of what is compared, so that hostile input costs little: characters of a claim, sentences
# of a claim, and tokens that one text may have more than the other.
_MOST_CHARACTERS = 4800
_MOST_SENTENCES = 40
_MOST_APART = 40
# Sentences of a claim that may be one statement together, as a sentence and what takes it back.
_TOGETHER = 4
# Words behind a name in which its verb stands.
_AGREEMENT_REACH = 4
# Spaces in a sentence of three words: a shorter one with a pronoun says nothing by itself.
_FEW_WORDS = 2
_INNER_STOP = re.compile(r"[.!?…。！？।؟]\W*\s*\S")
_AMBIGUOUS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}[.,]\d{3}(?![\d.,]?\d)")
_SETS_OFF = frozenset(",:-、，：")
_THAT = frozenset("that dass que che dat att at että że že что".split())


class Evidence(NamedTuple):
    """A statement and the passage that it stands in."""

    found: Found
    passage: Passage


class Verbatim(NamedTuple):
    """How a claim compares with the statements of its source.

    Attributes:
        same: Whether it is a statement, or several one after the other.
        licences: The kinds of licensed edits that were used.
        matched: Index in the evidence of each statement that it says, in order.
        bare: Whether it leaves out the sentence before it that says what its pronouns mean.
    """

    same: bool
    licences: tuple[str, ...] = ()
    matched: tuple[int, ...] = ()
    bare: bool = False


def compare(claim: str, evidence: Sequence[Evidence]) -> Verbatim:
    """Say whether a claim is verbatim; statements not whole, or not asserted, are passed over."""
    usable = [
        (index, each)
        for index, each in enumerate(evidence)
        if each.found.statement.whole and each.found.statement.asserted
    ]
    usable = [(index, each) for index, each in usable if _may_hold(claim, each.found)]
    whole = _one_of(claim, usable)
    if whole is not None:
        return whole
    if not usable or not _INNER_STOP.search(claim):
        return Verbatim(same=False)
    return _sentence_by_sentence(claim, usable)


def apart(claim: str, evidence: Sequence[Evidence]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words that a claim adds to the nearest of its statements, and those it lacks."""
    ours = dict.fromkeys(_SPOKEN.findall(clean_wording(claim).lower()))
    nearest: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    least = 0
    for each in evidence:
        theirs = dict.fromkeys(_SPOKEN.findall(each.found.statement.text.lower()))
        added = tuple(word for word in ours if word not in theirs)
        missing = tuple(word for word in theirs if word not in ours)
        size = 2 * len(added) + len(missing)
        if nearest is None or size < least:
            nearest, least = (added, missing), size
    return nearest or ((), ())


def _may_hold(claim: str, found: Found) -> bool:
    """Whether a claim may be a statement: it has each long word that no licence can drop.

    A sieve: most claims that are not verbatim lack a word, and are seen to at once.
    """
    said = clean_wording(claim).lower()
    return found.row is not None or all(
        word in said or may_vanish(word)
        for word in LONG_WORD.findall(without_marks(found.core).lower())
    )


def _one_of(
    claim: str, evidence: Sequence[tuple[int, Evidence]], *, opens: bool = True
) -> Verbatim | None:
    """Return how a text is one of the statements, or None.

    It `opens` where nothing stands before it: behind another sentence a pronoun would mean
    something else than in the source.
    """
    if len(claim) > _MOST_CHARACTERS:
        return None
    for index, each in evidence:
        same = _is(claim, each, opens=opens)
        if same is not None:
            return same._replace(matched=(index,))
    return None


def _sentence_by_sentence(claim: str, evidence: Sequence[tuple[int, Evidence]]) -> Verbatim:
    """Judge a claim of several sentences: each run of them must be one statement."""
    spans = split_sentences(claim)
    if not 1 < len(spans) <= _MOST_SENTENCES:
        return Verbatim(same=False)
    position = 0
    licences: list[str] = []
    matched: list[int] = []
    bare = False
    while position < len(spans):
        for stop in range(min(len(spans), position + _TOGETHER), position, -1):
            part = claim[spans[position].start : spans[stop - 1].end]
            found = _one_of(part, evidence, opens=position == 0)
            if found is not None:
                licences += found.licences
                matched += found.matched
                bare = bare or found.bare
                position = stop
                break
        else:
            return Verbatim(same=False)
    return Verbatim(True, tuple(dict.fromkeys(licences)), tuple(matched), bare)


def _is(claim: str, evidence: Evidence, *, opens: bool) -> Verbatim | None:
    """Return how a text is a statement, or None where it is not."""
    found, passage = evidence
    statement = found.statement
    if found.mark and claim.startswith(f"{found.mark} "):
        # Copied with the number of its own paragraph.
        claim = claim[len(found.mark) :].lstrip()
    if claim == statement.text or (found.alone and not found.antecedent and claim == found.core):
        return Verbatim(same=True)
    if found.code and not _holds_code(claim, found.code):
        return None
    language = guess_language(found.core) or passage.language
    rules = licences_of(language)
    if found.row is not None:
        reads = found.alone and _reads_row(claim, found, rules)
        return Verbatim(same=True, licences=("table cells",)) if reads else None
    said = tokens(claim, rules, claim=True)
    if not said:
        return None
    for wording in _wordings(found, opens=opens):
        theirs = tokens(wording.text, rules)
        named = wording.needs_name
        licences = _same(said, theirs, evidence, rules, needs_name=named)
        if (
            licences is None
            and _may_hold_values(said, theirs)
            and (language is not None or _grouped_alike(claim, wording.text))
        ):
            ours = tokens(claim, rules, claim=True, values=True, language=language)
            other = tokens(wording.text, rules, values=True, language=language)
            licences = _same(ours, other, evidence, rules, needs_name=named)
            licences = None if licences is None else (*licences, "notation")
        if licences is not None:
            return Verbatim(same=True, licences=licences, bare=wording.bare)
    return None


def _holds_code(claim: str, code: str) -> bool:
    """Whether a claim has each line of some code, in order, character by character."""
    at = 0
    for line in filter(None, map(str.strip, code.splitlines())):
        found = claim.find(line, at)
        if found < 0:
            return False
        at = found + len(line)
    return True


class _Wording(NamedTuple):
    """One way in which a statement may be worded.

    Attributes:
        text: The words.
        needs_name: Whether its leading pronoun must give way to a name.
        bare: Whether the sentence that says what its pronouns mean is left out.
    """

    text: str
    needs_name: bool = False
    bare: bool = False


def _wordings(found: Found, *, opens: bool) -> Iterator[_Wording]:
    statement = found.statement
    yield _Wording(statement.text)
    if found.alone and found.antecedent:
        yield _Wording(found.core, needs_name=True)
        if opens and found.core.count(" ") >= _FEW_WORDS:
            yield _Wording(found.core, bare=True)
    elif found.alone and found.core != statement.text:
        yield _Wording(found.core)
    if not found.alone and statement.text.endswith(found.core):
        lead = statement.text[: -len(found.core)].rstrip()
        if lead.endswith((":", "：")):
            # "You may not bring:" and "umbrellas" make one sentence.
            yield _Wording(f"{lead[:-1]} {found.core}")
            yield _Wording(f"{lead[:-1]}, {found.core}")


def _reads_row(claim: str, found: Found, rules: Licences) -> bool:
    row = found.row
    if row is None or not row.header:
        return False

    def words(text: str) -> list[str]:
        return tokens(text, rules)

    said = tokens(claim, rules, claim=True)
    if reads_cells(said, row, words):
        return True
    headings = found.statement.headings
    context = frozenset(word.lower() for text in headings for word in words(text))
    return names_cell(said, row, context, words)


def _grouped_alike(claim: str, wording: str) -> bool:
    """Whether numbers that may be grouped or decimal, such as "1,250", stand in both as they are.

    In a language that is not known they must; in Chinese, Japanese and Korean they are grouped.
    """
    if any(letter > "\u2e80" for letter in claim):
        return True
    return _AMBIGUOUS.findall(claim) == _AMBIGUOUS.findall(wording)


def _may_hold_values(ours: list[str], theirs: list[str]) -> bool:
    """Whether two texts may differ in notation alone: something of a value is on each side."""
    if abs(len(ours) - len(theirs)) > _MOST_APART:
        return False
    start, end = 0, 0
    shorter = min(len(ours), len(theirs))
    while start < shorter and ours[start] == theirs[start]:
        start += 1
    while end < shorter - start and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    # One word more on each side: "12,000" and "12 000" differ in a comma alone.
    begin, rest = max(0, start - 1), max(0, end - 1)
    return all(
        any(word[0].isdigit() or may_be_value(word.lower()) for word in words)
        for words in (ours[begin : len(ours) - rest], theirs[begin : len(theirs) - rest])
    )


def _same(
    ours: list[str], theirs: list[str], evidence: Evidence, rules: Licences, *, needs_name: bool
) -> tuple[str, ...] | None:
    """Return the licences that make two texts the same, or None."""
    if abs(len(ours) - len(theirs)) > _MOST_APART:
        return None
    if not needs_name and ours == theirs:
        return ()
    known = _Known(evidence, rules)
    for start, linked in _beginnings(theirs, rules):
        found = _SideBySide(ours, theirs, start, known, needs_name=needs_name).licences()
        if found is not None:
            return (*linked, *found)
    return None


def _beginnings(theirs: list[str], rules: Licences) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield where the wording may begin: at its start, or behind a leading word that links."""
    yield 0, ()
    if not theirs:
        return
    for linker in rules.linkers.get(theirs[0].lower(), ()):
        size = _behind(theirs, linker)
        if size is None or len(theirs) <= size:
            continue
        if theirs[size] in _SETS_OFF:
            yield size + 1, ("linking word",)
        elif linker[-1] in _THAT or linker in (("and",), ("but",)):
            yield size, ("linking word",)
        return
    for linker in rules.free:
        if tuple(word.lower() for word in theirs[: len(linker)]) == linker:
            yield len(linker), ("linking word",)


def _behind(words: Sequence[str], linker: Sequence[str]) -> int | None:
    """Return where the words behind a leading phrase begin, or None; commas inside it are free."""
    at = 0
    for word in linker:
        if at and words[at : at + 1] == [","]:
            at += 1
        if at >= len(words) or words[at].lower() != word:
            return None
        at += 1
    return at


class _Known:
    """The licences, and the names that may stand for pronouns, looked up when first needed."""

    __slots__ = ("_evidence", "_names", "rules")

    def __init__(self, evidence: Evidence, rules: Licences) -> None:
        self._evidence = evidence
        self._names: Names | None = None
        self.rules = rules

    @property
    def definition(self) -> bool:
        """Whether the statement begins with an emphasised term and a dash."""
        return self._evidence.found.definition

    @property
    def names(self) -> Names:
        """The names that the surroundings of the statement give."""
        if self._names is None:
            self._names = names_for(self._evidence.found, self._evidence.passage)
        return self._names

    def organisation(self, word: str) -> Iterator[list[str]]:
        """Yield what may stand for "we", "our" or "us"."""
        for pattern in self.rules.organisation.get(word.lower(), ()):
            for name in self.names.organisation:
                yield TOKEN.findall(pattern.replace("{name}", name))

    def pronoun(self, word: str) -> Iterator[list[str]]:
        """Yield what may stand for a leading pronoun."""
        for pattern in self.rules.pronouns.get(word.lower(), ()):
            for name in self.names.subjects:
                yield TOKEN.findall(pattern.replace("{name}", name))

    def owners(self, word: str) -> Iterator[list[str]]:
        """Yield the names whose possessive a leading pronoun may be."""
        if any("'s" in pattern for pattern in self.rules.pronouns.get(word.lower(), ())):
            for name in self.names.subjects:
                yield TOKEN.findall(name)


class _State(NamedTuple):
    """How far a comparison has come."""

    ours: int
    theirs: int
    agrees_until: int
    named: bool
    licences: tuple[str, ...]


class _SideBySide:
    """The words of a claim and those of a statement from `start`, laid side by side."""

    def __init__(
        self,
        ours: list[str],
        theirs: list[str],
        start: int,
        known: _Known,
        *,
        needs_name: bool,
    ) -> None:
        self._ours = ours
        self._theirs = theirs
        self._start = start
        self._known = known
        self._needs_name = needs_name

    def licences(self) -> tuple[str, ...] | None:
        """Return the licences that make them the same, or None.

        Where they differ, each licensed edit is tried in turn.
        """
        open_states = [_State(0, self._start, -1, False, ())]
        seen: set[tuple[int, int, bool]] = set()
        while open_states:
            state = open_states.pop()
            key = (state.ours, state.theirs, state.named)
            if key in seen:
                continue
            seen.add(key)
            at_start = state.theirs == self._start
            i, j = state.ours, state.theirs
            if not (at_start and self._needs_name):
                i, j = self._along(i, j)
            if (
                at_start
                and self._start
                and i == 0
                and j < len(self._theirs)
                and self._ours[0].lower() == self._theirs[j].lower()
            ):
                # Behind a linking word the sentence begins anew: "However, the" and "The".
                i, j = self._along(1, j + 1)
            if i == len(self._ours) and j == len(self._theirs):
                if state.named or not self._needs_name:
                    return tuple(dict.fromkeys(state.licences))
                continue
            open_states += self._edits(state._replace(ours=i, theirs=j))
            if (i, j) != (state.ours, state.theirs) and at_start:
                # A pronoun may stay and may give way; both are tried.
                open_states += self._named(state)
        return None

    def _along(self, i: int, j: int) -> tuple[int, int]:
        """Return where the words no longer are the same ones."""
        ours, theirs = self._ours, self._theirs
        while i < len(ours) and j < len(theirs) and ours[i] == theirs[j]:
            i, j = i + 1, j + 1
        return i, j

    def _edits(self, state: _State) -> Iterator[_State]:
        """Yield where each licensed edit leads."""
        ours, theirs, rules = self._ours, self._theirs, self._known.rules
        i, j = state.ours, state.theirs
        mine = ours[i] if i < len(ours) else ""
        other = theirs[j] if j < len(theirs) else ""
        licences = state.licences
        # An article may come or go; it may not change into another one.
        my_article, their_article = _article(ours, i, rules), _article(theirs, j, rules)
        if my_article and not their_article:
            yield state._replace(ours=i + 1, licences=(*licences, "article"))
        if their_article and not my_article:
            yield state._replace(theirs=j + 1, licences=(*licences, "article"))
        if {mine, other} == {"a", "an"}:
            yield state._replace(ours=i + 1, theirs=j + 1)
        if mine == "," and _before_last(ours, i):
            yield state._replace(ours=i + 1)
        if other == "," and _before_last(theirs, j):
            yield state._replace(theirs=j + 1)
        if (
            other == "-"
            and mine in rules.defines
            and self._known.definition
            and "-" not in theirs[self._start : j]
        ):
            yield state._replace(ours=i + 1, theirs=j + 1, licences=(*licences, "definition"))
        if other in rules.organisation or other.lower() in rules.organisation:
            for name in self._known.organisation(other):
                size = _begins(ours, i, name, first=i == 0)
                if size:
                    yield state._replace(
                        ours=i + size,
                        theirs=j + 1,
                        agrees_until=j + _AGREEMENT_REACH,
                        licences=(*licences, "organisation"),
                    )
        if j == self._start:
            yield from self._named(state)
        if j <= state.agrees_until and _agrees(other, mine, rules):
            yield state._replace(ours=i + 1, theirs=j + 1, agrees_until=-1)

    def _named(self, state: _State) -> Iterator[_State]:
        """Yield where a name in the place of a leading pronoun leads."""
        ours, theirs, start = self._ours, self._theirs, self._start
        if state.theirs != start or start >= len(theirs) or state.ours:
            return
        pronoun = theirs[start]
        done = (*state.licences, "name")
        for name in self._known.pronoun(pronoun):
            size = _begins(ours, 0, name, first=True)
            if size:
                yield _State(size, start + 1, start + _AGREEMENT_REACH, True, done)
        for name in self._known.owners(pronoun):
            # "Its battery" is "The battery of the card reader".
            begin = 1 if ours[:1] == ["the"] else 0
            for width in (1, 2):
                held = theirs[start + 1 : start + 1 + width]
                middle = begin + width
                of = ours[middle : middle + 1] == ["of"]
                if of and len(held) == width and ours[begin:middle] == held:
                    size = _begins(ours, middle + 1, name, first=False)
                    if size:
                        yield _State(middle + 1 + size, start + 1 + width, -1, True, done)


def _begins(words: list[str], at: int, name: list[str], *, first: bool) -> int:
    """Return how many words at a place are a name, an article before it included; 0 if none."""
    for article in (1, 0):
        begin = at + article
        if article and (at >= len(words) or words[at] not in ("the", "a", "an")):
            continue
        part = words[begin : begin + len(name)]
        if part == name:
            return article + len(name)
        if first and not article and part and part[1:] == name[1:] and name[0].lower() == part[0]:
            return len(name)
        if article and part and part[1:] == name[1:] and part[0].lower() == name[0].lower():
            # Behind an article the name of a thing stands in small letters.
            return article + len(name)
    return 0


def _article(words: list[str], at: int, rules: Licences) -> bool:
    if at >= len(words) or words[at] not in rules.articles or at + 1 >= len(words):
        return False
    following = words[at + 1]
    return (
        following[0].isalnum()
        and following.lower() not in rules.counts
        and (len(following) > 1 or following.islower())
    )


def _before_last(words: list[str], at: int) -> bool:
    """Whether a comma stands before "and" or "or" of a list of three or more."""
    return words[at + 1 : at + 2] in (["and"], ["or"]) and "," in words[max(0, at - 12) : at]


def _agrees(theirs: str, ours: str, rules: Licences) -> bool:
    """Whether a verb differs in its form only: "we charge" and "Orsk Bank charges"."""
    if not (theirs.isalpha() and ours.isalpha() and theirs.islower()):
        return False
    if rules.agreement.get(theirs) == ours:
        return True
    if theirs in rules.agreement:
        return False
    return ours in (f"{theirs}s", f"{theirs}es") or (
        theirs.endswith("y") and ours == f"{theirs[:-1]}ies"
    )
