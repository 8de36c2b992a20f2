"""Whether a claim is one whole statement of its source, word for word but for licensed edits.

The licences are a closed list (`data/licences.toml`). The words of the claim and those of exactly
one statement must be the same in the same order; what differs must be licensed. Nothing is guessed:
an edit that nobody listed makes the claim open, not false.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from grounded_rag.resources import data_file
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.values import canonical_values, may_be_value
from grounded_rag.text.words import guess_language
from grounded_rag.verification.names import Names, names_for
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.statements import Found
from grounded_rag.verification.wording import clean_wording, names_cell, reads_cells, without_marks

_SPOKEN = re.compile(r"\w+(?:['’]\w+)*")
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
# Letters of a word that says something in any language whose words are set apart.
_LONG = re.compile(r"[a-zà-öø-ÿß-ɏα-ωа-я]{5,}")
_STOPS = frozenset(".!。！…．।॥؛;,")
_QUOTES = frozenset("\"'")
_MOST_TOKENS = 400
_FURTHEST = 40
_REACH = 4
_FEW_WORDS = 2
_INNER_STOP = re.compile(r"[.!?…。！？।؟]\W*\s*\S")


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


class Apart(NamedTuple):
    """Words in which a claim and the nearest statement differ."""

    added: tuple[str, ...]
    missing: tuple[str, ...]


def compare(claim: str, evidence: Sequence[Evidence]) -> Verbatim:
    """Say whether a claim is verbatim.

    Args:
        claim: Text of the claim.
        evidence: The statements that its quotes stand in; those that are not whole, or not
            asserted, are passed over.
    """
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


def _may_hold(claim: str, found: Found) -> bool:
    """Whether a claim may be a statement: it has each long word that no licence can drop.

    A sieve: most claims that are not verbatim lack a word, and are seen to at once.
    """
    said = clean_wording(claim).lower()
    return found.row is not None or all(
        word in said or _may_vanish(word)
        for word in _LONG.findall(without_marks(found.core).lower())
    )


@lru_cache(maxsize=65536)
def _may_vanish(word: str) -> bool:
    """Whether a licence may leave a word out or put another form in its place."""
    return word in _licensed_words() or may_be_value(word)


@lru_cache(maxsize=1)
def _licensed_words() -> frozenset[str]:
    """Return every word of the licences."""

    def words(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield from _LONG.findall(value.lower())
        elif isinstance(value, dict):
            for part in value.values():
                yield from words(part)
        elif isinstance(value, list):
            for part in value:
                yield from words(part)

    return frozenset(words(licences()))


def apart(claim: str, evidence: Sequence[Evidence]) -> Apart:
    """Return the words in which a claim and the nearest of its statements differ.

    Args:
        claim: Text of the claim.
        evidence: Its statements.
    """
    ours = dict.fromkeys(_SPOKEN.findall(clean_wording(claim).lower()))
    best: Apart | None = None
    least = 0
    for each in evidence:
        theirs = dict.fromkeys(_SPOKEN.findall(each.found.statement.text.lower()))
        added = tuple(word for word in ours if word not in theirs)
        missing = tuple(word for word in theirs if word not in ours)
        size = 2 * len(added) + len(missing)
        if best is None or size < least:
            best, least = Apart(added, missing), size
    return best or Apart((), ())


def _one_of(
    claim: str, evidence: Sequence[tuple[int, Evidence]], *, opens: bool = True
) -> Verbatim | None:
    """Return how a text is one of the statements, or None.

    Args:
        claim: The text.
        evidence: The statements with their indexes.
        opens: Whether nothing stands before it: behind another sentence a pronoun would mean
            something else than in the source.
    """
    if len(claim) > _MOST_TOKENS * 12:
        return None
    for index, each in evidence:
        found = _is(claim, each, opens=opens)
        if found is not None:
            return Verbatim(True, found.licences, (index,), found.bare)
    return None


class _Same(NamedTuple):
    """How a text is one statement."""

    licences: tuple[str, ...] = ()
    bare: bool = False


def _sentence_by_sentence(claim: str, evidence: Sequence[tuple[int, Evidence]]) -> Verbatim:
    """Judge a claim of several sentences: each run of them must be one statement."""
    spans = split_sentences(claim)
    if not 1 < len(spans) <= _FURTHEST:
        return Verbatim(same=False)
    position = 0
    licences: list[str] = []
    matched: list[int] = []
    bare = False
    while position < len(spans):
        for stop in range(min(len(spans), position + _REACH), position, -1):
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


def _is(claim: str, evidence: Evidence, *, opens: bool) -> _Same | None:
    """Return how a text is a statement, or None where it is not."""
    found, passage = evidence
    statement = found.statement
    if found.mark and claim.startswith(f"{found.mark} "):
        # Copied with the number of its own paragraph.
        claim = claim[len(found.mark) :].lstrip()
    if claim == statement.text or (found.alone and not found.antecedent and claim == found.core):
        return _Same()
    language = guess_language(found.core) or passage.language
    rules = _rules(language)
    if found.row is not None and not found.alone:
        return None
    if found.row is not None:
        licences = _reads_row(claim, evidence, rules)
        return None if licences is None else _Same(licences)
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
            return _Same(licences, wording.bare)
    return None


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
    """Yield how a statement may be worded."""
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


def _reads_row(claim: str, evidence: Evidence, rules: Licences) -> tuple[str, ...] | None:
    row = evidence.found.row
    if row is None or not row.header:
        return None

    def words(text: str) -> list[str]:
        return tokens(text, rules)

    said = tokens(claim, rules, claim=True)
    if reads_cells(said, row, words):
        return ("table cells",)
    context = frozenset(
        word.lower() for text in evidence.found.statement.headings for word in tokens(text, rules)
    )
    return ("table cells",) if names_cell(said, row, context, words) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Licences:
    """The licences of one language.

    Attributes:
        articles: Words that may come or go.
        counts: Words before which they may not.
        linkers: Leading words that only link, as words, by the first of them.
        free: Linking words that need no mark behind them.
        same: First words of phrases of one meaning, each with the phrases that begin so.
        contractions: Words for each contraction.
        organisation: What the speaker's own words may become.
        pronouns: What a leading pronoun may become.
        agreement: Forms of a verb behind a name.
        defines: Verbs for the dash behind a defined term.
    """

    articles: frozenset[str]
    counts: frozenset[str]
    linkers: Mapping[str, tuple[tuple[str, ...], ...]]
    free: frozenset[tuple[str, ...]]
    same: Mapping[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]
    contractions: Mapping[str, tuple[str, ...]]
    organisation: Mapping[str, tuple[str, ...]]
    pronouns: Mapping[str, tuple[str, ...]]
    agreement: Mapping[str, str]
    defines: frozenset[str]


@lru_cache(maxsize=32)
def _rules(language: str | None) -> Licences:
    listed: dict[str, Any] = {**licences()["any"], **licences().get(language or "", {})}

    def phrases(text: str) -> list[tuple[str, ...]]:
        return [tuple(_TOKEN.findall(part)) for part in text.split("|") if part.strip()]

    def pairs(text: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for part in re.findall(r"[^=]+=[^=]+?(?=\s+\S+=|\s*$)", text):
            left, _, right = part.partition("=")
            found[left.strip()] = " ".join(right.split())
        return found

    same: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for group in listed.get("same", ()):
        first, *others = phrases(group)
        for other in others:
            same.setdefault(other[0], []).append((other, first))
    for choices in same.values():
        choices.sort(key=lambda choice: -len(choice[0]))
    linkers: dict[str, tuple[tuple[str, ...], ...]] = {}
    for linker in sorted(phrases(listed["linkers"]), key=len, reverse=True):
        linkers[linker[0]] = (*linkers.get(linker[0], ()), linker)
    free = frozenset(phrases(listed["free_linkers"]))
    return Licences(
        articles=frozenset(listed.get("articles", "").split()),
        counts=frozenset(listed.get("article_counts", "").split()),
        linkers=linkers,
        free=free,
        same={key: tuple(value) for key, value in same.items()},
        contractions={
            key: tuple(value.split())
            for key, value in pairs(listed.get("contractions", "")).items()
        },
        organisation={
            key: tuple(part.strip() for part in value.split("|"))
            for key, value in listed.get("organisation", {}).items()
        },
        pronouns={
            key: tuple(part.strip() for part in value.split("|"))
            for key, value in listed.get("pronouns", {}).items()
        },
        agreement=pairs(listed.get("agreement", "")),
        defines=frozenset(listed.get("defines", "").split()),
    )


@lru_cache(maxsize=1)
def licences() -> dict[str, Any]:
    """Return the licences of all languages, as listed."""
    with data_file("licences.toml").open("rb") as file:
        return tomllib.load(file)


def tokens(
    text: str,
    rules: Licences,
    *,
    claim: bool = False,
    values: bool = False,
    language: str | None = None,
) -> list[str]:
    """Return the words, numbers and signs of a text, in one form for what is licensed as equal.

    Args:
        text: A claim or a wording of a statement.
        rules: Licences of its language.
        claim: Whether it is a claim, whose wrapping quotation marks say nothing.
        values: Whether numbers, dates and times stand as their values.
        language: Language of the text, for its numbers.
    """
    plain = without_marks(clean_wording(text))
    found = _with_values(plain, language) if values else _TOKEN.findall(plain)
    while found and found[-1] in _STOPS:
        found.pop()
    if claim and len(found) > 2 and found[0] == found[-1] and found[0] in _QUOTES:
        found = found[1:-1]
        while found and found[-1] in _STOPS:
            found.pop()
    if found and found[0][:1].isupper() and (len(found[0]) == 1 or found[0][1:].islower()):
        found[0] = found[0].lower()
    if rules.contractions:
        found = _expanded(found, rules)
    if rules.same:
        found = _canonical(found, rules)
    return found


def _with_values(text: str, language: str | None) -> list[str]:
    found: list[str] = []
    done = 0
    for value in canonical_values(text, language=language):
        found += _TOKEN.findall(text[done : value.start])
        found.append(f"\0{value.key!r}")
        done = value.end
    return found + _TOKEN.findall(text[done:])


def _expanded(words: list[str], rules: Licences) -> list[str]:
    if not any("'" in word or "’" in word for word in words):
        return words
    found: list[str] = []
    for word in words:
        plain = word.replace("’", "'")
        full = rules.contractions.get(plain.lower()) if "'" in plain else None
        found += full if full is not None else [plain]
    return found


def _canonical(words: list[str], rules: Licences) -> list[str]:
    if rules.same.keys().isdisjoint(words):
        return words
    found: list[str] = []
    at = 0
    while at < len(words):
        for phrase, first in rules.same.get(words[at], ()):
            if tuple(words[at : at + len(phrase)]) == phrase:
                found += first
                at += len(phrase)
                break
        else:
            found.append(words[at])
            at += 1
    return found


def _grouped_alike(claim: str, wording: str) -> bool:
    """Whether numbers that may be grouped or decimal, such as "1,250", stand in both as they are.

    In a language that is not known they must; in Chinese, Japanese and Korean they are grouped.
    """
    if any(letter > "\u2e80" for letter in claim):
        return True
    return _AMBIGUOUS.findall(claim) == _AMBIGUOUS.findall(wording)


_AMBIGUOUS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}[.,]\d{3}(?![\d.,]?\d)")


def _may_hold_values(ours: list[str], theirs: list[str]) -> bool:
    """Whether two texts may differ in notation alone: something of a value is on each side."""
    if abs(len(ours) - len(theirs)) > _FURTHEST:
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
    if abs(len(ours) - len(theirs)) > _FURTHEST:
        return None
    if not needs_name and ours == theirs:
        return ()
    names = _Known(evidence, rules)
    for start, linked in _beginnings(theirs, rules):
        found = _walk(ours, theirs, start, names, rules, needs_name=needs_name)
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


_SETS_OFF = frozenset(",:-、，：")
_THAT = frozenset("that dass que che dat att at että że že что".split())


class _Known:
    """The names that may stand for pronouns, looked up when they are first needed."""

    __slots__ = ("_evidence", "_names", "_rules")

    def __init__(self, evidence: Evidence, rules: Licences) -> None:
        self._evidence = evidence
        self._rules = rules
        self._names: Names | None = None

    @property
    def names(self) -> Names:
        """The names."""
        if self._names is None:
            self._names = names_for(self._evidence.found, self._evidence.passage, licences())
        return self._names

    def organisation(self, word: str) -> Iterator[list[str]]:
        """Yield what may stand for "we", "our" or "us"."""
        for pattern in self._rules.organisation.get(word.lower(), ()):
            for name in self.names.organisation:
                yield _TOKEN.findall(pattern.replace("{name}", name))

    def pronoun(self, word: str) -> Iterator[list[str]]:
        """Yield what may stand for a leading pronoun."""
        for pattern in self._rules.pronouns.get(word.lower(), ()):
            for name in self.names.subjects:
                yield _TOKEN.findall(pattern.replace("{name}", name))

    def owners(self, word: str) -> Iterator[list[str]]:
        """Yield the names whose possessive a leading pronoun may be."""
        if any("'s" in pattern for pattern in self._rules.pronouns.get(word.lower(), ())):
            for name in self.names.subjects:
                yield _TOKEN.findall(name)


class _State(NamedTuple):
    """How far a comparison has come."""

    ours: int
    theirs: int
    agrees_until: int
    named: bool
    licences: tuple[str, ...]


def _walk(
    ours: list[str],
    theirs: list[str],
    start: int,
    known: _Known,
    rules: Licences,
    *,
    needs_name: bool,
) -> tuple[str, ...] | None:
    """Lay two texts side by side; where they differ, take each licensed edit in turn."""
    open_states = [_State(0, start, -1, False, ())]
    seen: set[tuple[int, int, bool]] = set()
    while open_states:
        state = open_states.pop()
        i, j = state.ours, state.theirs
        if (i, j, state.named) in seen:
            continue
        seen.add((i, j, state.named))
        at_start = j == start
        if not (at_start and needs_name):
            while i < len(ours) and j < len(theirs) and ours[i] == theirs[j]:
                i, j = i + 1, j + 1
        begins = at_start and start and i == 0 and j < len(theirs)
        if begins and ours[0].lower() == theirs[j].lower():
            # Behind a linking word the sentence begins anew: "However, the" and "The".
            i, j = 1, j + 1
            while i < len(ours) and j < len(theirs) and ours[i] == theirs[j]:
                i, j = i + 1, j + 1
        if i == len(ours) and j == len(theirs):
            if state.named or not needs_name:
                return tuple(dict.fromkeys(state.licences))
            continue
        reached = state._replace(ours=i, theirs=j)
        open_states += _edits(reached, ours, theirs, start, known, rules)
        if (i, j) != (state.ours, state.theirs) and at_start:
            # A pronoun may stay and may give way; both are tried.
            open_states += _named(state, ours, theirs, start, known)
    return None


def _edits(
    state: _State,
    ours: list[str],
    theirs: list[str],
    start: int,
    known: _Known,
    rules: Licences,
) -> Iterator[_State]:
    """Yield where each licensed edit leads."""
    i, j = state.ours, state.theirs
    mine = ours[i] if i < len(ours) else ""
    other = theirs[j] if j < len(theirs) else ""
    licences = state.licences
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
        and known._evidence.found.definition
        and ("-" not in theirs[start:j])
    ):
        yield state._replace(ours=i + 1, theirs=j + 1, licences=(*licences, "definition"))
    if other in rules.organisation or other.lower() in rules.organisation:
        for name in known.organisation(other):
            size = _begins(ours, i, name, first=i == 0)
            if size:
                yield state._replace(
                    ours=i + size,
                    theirs=j + 1,
                    agrees_until=j + _REACH,
                    licences=(*licences, "organisation"),
                )
    if j == start:
        yield from _named(state, ours, theirs, start, known)
    if j <= state.agrees_until and _agrees(other, mine, rules):
        yield state._replace(ours=i + 1, theirs=j + 1, agrees_until=-1)


def _named(
    state: _State, ours: list[str], theirs: list[str], start: int, known: _Known
) -> Iterator[_State]:
    """Yield where a name in the place of a leading pronoun leads."""
    if state.theirs != start or start >= len(theirs) or state.ours:
        return
    pronoun = theirs[start]
    done = (*state.licences, "name")
    for name in known.pronoun(pronoun):
        size = _begins(ours, 0, name, first=True)
        if size:
            yield _State(size, start + 1, start + _REACH, True, done)
    for name in known.owners(pronoun):
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
    if not (theirs.isalpha() and ours.isalpha() and theirs.islower()):
        return False
    if rules.agreement.get(theirs) == ours:
        return True
    if theirs in rules.agreement:
        return False
    return ours in (f"{theirs}s", f"{theirs}es") or (
        theirs.endswith("y") and ours == f"{theirs[:-1]}ies"
    )
