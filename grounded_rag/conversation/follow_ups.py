"""Rules that complete an English follow-up from the question before it, or leave it as it is.

A wrong guess would be answered as if it had been asked. So a rule speaks only where exactly one
place of the earlier question fits; whatever is in doubt stays as it was asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from grounded_rag.resources import read_table
from grounded_rag.text.words import guess_language

# Longer questions stand alone, and patterns are kept from hostile lengths.
_LONGEST = 400
_LONGEST_PHRASE = 8
# A pronoun in a longer question mostly stands for what the question itself has named.
_SHORT_QUESTION = 10

_ARTICLES = {"the": "the", "a": "a", "an": "a", "my": "my", "your": "my", "our": "my"}
_PRONOUN = re.compile(
    r"\b(?:(?P<its>its)(?=\s+\w)|(?P<theirs>their)(?=\s+\w)|(?P<it>it)|(?P<they>they|them)"
    r"|(?P<person>he|she|him))(?![\w'’-])",
    re.IGNORECASE,
)
_ACTION = re.compile(
    r"how (?:to|do|does|did|can|could|should|must|may|will|would)\b", re.IGNORECASE
)
_BEING = frozenset(("is", "are", "was", "were"))
_WHAT_IS = re.compile(
    r"(?:(?P<who>who)|what|where|how (?:much|high|big|large)) (?:is|was|(?P<many>are|were)) "
    r"(?=(?:the|an?|my|your|our) )",
    re.IGNORECASE,
)


def stand_alone(question: str, earlier: Sequence[str]) -> str:
    """Return a question that can be understood without those before it, or the question itself.

    Args:
        question: The question as it was asked.
        earlier: Earlier questions, self-standing, oldest first.
    """
    asked = question.strip()
    if not earlier or not asked or max(len(asked), len(earlier[-1])) > _LONGEST:
        return question
    before = " ".join(earlier[-1].split()).rstrip(" ?!.")
    # Of several sentences nobody knows which one the follow-up goes on from.
    if not before or re.search(r"[.?!;:] ", before) or not has_rules(f"{before} {asked}"):
        return question
    phrase = _phrase(asked)
    if phrase is not None:
        return _with_phrase(before, phrase) or question
    return _with_name(asked, before) or question


def why_left(question: str) -> str:
    """Return one sentence on why the rules left a question as it is, or "" if it stands alone."""
    if not has_rules(question):
        return "The rules for follow-ups are for English, so the question was asked as it stands."
    asked = question.strip()
    pronoun = _PRONOUN.search(asked)
    if len(asked) <= _LONGEST and (
        _phrase(asked) is not None or (pronoun and _points_back(asked, pronoun.start()))
    ):
        return "What this goes on from is not certain, so it was asked as it stands."
    return ""


def has_rules(text: str) -> bool:
    """Whether a text may be in the language that the rules are for."""
    return guess_language(text) in ("en", None)


class _Rules(NamedTuple):
    """The words of the data file, as the rules use them."""

    opener: re.Pattern[str]
    expletive: re.Pattern[str]
    event: re.Pattern[str]
    prepositions: frozenset[str]
    finite: frozenset[str]
    light: frozenset[str]
    after_noun: frozenset[str]
    days: frozenset[str]
    degrees: frozenset[str]


@cache
def _rules() -> _Rules:
    lists, questions = read_table("follow_ups"), read_table("questions")
    openers, asides = _either(lists["openers"]), _either(lists["asides"])
    states, verbs = _either(lists["expletive_states"]), _either(lists["expletive_verbs"])
    objects = _either(lists["expletive_objects"])
    prepositions, finite = frozenset(lists["prepositions"]), frozenset(lists["finite"])
    return _Rules(
        opener=re.compile(rf"(?:{openers}\b[\s,]*)*(?:{asides}\b\s*)?", re.IGNORECASE),
        expletive=re.compile(
            rf"\bit\s+(?:is\s+)?(?:{states}\b|{verbs}s?\s+{objects}\b"
            r"|(?:when|if|that|who|which|where)\b|\w+\s+(?:to|that|for|if)\b)",
            re.IGNORECASE,
        ),
        event=re.compile(rf"\bit\s+{verbs}s?\b", re.IGNORECASE),
        prepositions=prepositions,
        finite=finite,
        light=finite | prepositions | frozenset(lists["asking"]),
        after_noun=frozenset(lists["after_noun"]),
        days=frozenset(questions["days_and_months"]) | {"march"},
        degrees=frozenset(questions["degrees"]),
    )


def _either(words: Iterable[str]) -> str:
    spaced = (r"\s+".join(each.split()) for each in words)
    return f"(?:{'|'.join(spaced)})"


class _Phrase(NamedTuple):
    """A phrase of words: "for the second car"."""

    preposition: str  # In lower case; "" without one
    words: tuple[str, ...]  # The others

    @property
    def article(self) -> str:
        """Kind of article: "the", "a", "my" or none."""
        return _ARTICLES.get(self.words[0].lower(), "")

    @property
    def bare(self) -> tuple[str, ...]:
        """Its words without article."""
        return self.words[bool(self.article) :]


class _Span(NamedTuple):
    """Words of a question, by number: `start` the first, `end` behind the last."""

    start: int
    end: int


def _phrase(asked: str) -> _Phrase | None:
    """Return the phrase that a follow-up consists of, or None where it is a question."""
    rules = _rules()
    opener = rules.opener.match(asked)
    rest = asked[opener.end() if opener else 0 :].strip()
    bare = rest.rstrip(" ?!.")
    words = bare.split()
    if not 0 < len(words) <= _LONGEST_PHRASE or re.search(r"[.?!:;,](?:\s|$)", bare):
        return None
    lower = [word.lower() for word in words]
    if not rules.finite.isdisjoint(lower):
        return None
    if lower[0] in rules.prepositions:
        return _Phrase(lower[0], tuple(words[1:])) if words[1:] else None
    return _Phrase("", tuple(words)) if len(rest) < len(asked) else None


def _with_phrase(before: str, phrase: _Phrase) -> str | None:
    """Put a phrase in the one place of an earlier question that is its like, if there is one."""
    # "And the oldest?", "and the blue one?" borrow their noun from a place that cannot be told.
    if not phrase.bare or phrase.bare[-1].lower() in (*_rules().degrees, "one", "ones"):
        return None
    words = before.split()
    likes: tuple[Callable[[Sequence[str], _Phrase], _Span | None], ...] = (
        _same_kind,
        _same_preposition,
        _same_head,
        _other_name,
        _same_article,
    )
    for like in likes:
        place = like(words, phrase)
        if place is not None:
            new = ([phrase.preposition] if phrase.preposition else []) + list(phrase.words)
            return f"{' '.join([*words[: place.start], *new, *words[place.end :]])}?"
    return None


def _kind(word: str) -> str:
    if any(character.isdigit() for character in word):
        return "number"
    return "day" if word.lower() in _rules().days else ""


def _same_kind(words: Sequence[str], phrase: _Phrase) -> _Span | None:
    """Find the one number for a number, the one day for a day."""
    kind = _kind(phrase.bare[-1])
    places = [at for at, word in enumerate(words) if _kind(word) == kind]
    if not kind or len(phrase.words) > 1 or len(places) != 1:
        return None
    return _with_preposition(words, _Span(places[0], places[0] + 1), phrase)


def _with_preposition(words: Sequence[str], place: _Span, phrase: _Phrase) -> _Span | None:
    """Take the preposition before a place along where the phrase brings one of its own."""
    if not phrase.preposition:
        return place
    if place.start and words[place.start - 1].lower() in _rules().prepositions:
        return _Span(place.start - 1, place.end)
    return None


def _same_preposition(words: Sequence[str], phrase: _Phrase) -> _Span | None:
    """Find the one phrase with the same preposition and article."""
    places = [at for at, word in enumerate(words) if word.lower() == phrase.preposition]
    if len(places) != 1:
        return None
    start = places[0]
    end = _noun_end(words, start + 1)
    old = _Phrase(phrase.preposition, tuple(words[start + 1 : end]))
    if not old.words or old.article != phrase.article:
        return None
    numbers = [any(_kind(word) == "number" for word in each.words) for each in (old, phrase)]
    return _Span(start, end) if numbers[0] == numbers[1] else None


def _same_head(words: Sequence[str], phrase: _Phrase) -> _Span | None:
    """Find the one phrase that ends in the same noun: "pet insurance", "travel insurance"."""
    lower = [word.lower() for word in words]
    head = phrase.bare[-1].lower()
    if lower.count(head) != 1 or (len(phrase.bare) == 1 and not phrase.preposition):
        return None
    end = lower.index(head) + 1
    start = end - len(phrase.bare)
    if phrase.article:
        starts = [at for at in range(max(0, end - 5), end) if lower[at] in _ARTICLES]
        if not starts or _ARTICLES[lower[starts[-1]]] != phrase.article:
            return None
        start = starts[-1]
    if start < 0 or not _rules().light.isdisjoint(lower[start:end]):
        return None
    return _with_preposition(words, _Span(start, end), phrase)


def _names(words: Sequence[str]) -> list[_Span]:
    """Return the runs of capitalised words behind the first word, days and numbers left out."""
    found: list[_Span] = []
    for at, word in enumerate(words):
        if at == 0 or not word[:1].isupper() or word == "I" or _kind(word):
            continue
        start = found.pop().start if found and found[-1].end == at else at
        found.append(_Span(start, at + 1))
    return found


def _other_name(words: Sequence[str], phrase: _Phrase) -> _Span | None:
    """Find the one name for another name."""
    names = _names(words)
    all_names = all(word[:1].isupper() and not _kind(word) for word in phrase.bare)
    if phrase.preposition or not all_names or len(names) != 1:
        return None
    place = names[0]
    article = _ARTICLES.get(words[place.start - 1].lower(), "")
    if article != phrase.article:
        return None
    return _Span(place.start - bool(article), place.end)


def _same_article(words: Sequence[str], phrase: _Phrase) -> _Span | None:
    """Find the one noun phrase with the same article."""
    places = [at for at, word in enumerate(words) if _ARTICLES.get(word.lower()) == phrase.article]
    if phrase.preposition or not phrase.article or len(places) != 1:
        return None
    # "The pros and cons of it? And the cons?" takes a part; nothing is replaced.
    if phrase.bare[-1].lower() in (word.lower() for word in words):
        return None
    return _noun_phrase(words, places[0])


def _noun_end(words: Sequence[str], start: int) -> int:
    """Return where a noun phrase ends: at a verb, a preposition other than "of", or the end."""
    rules = _rules()
    stops = rules.after_noun | (rules.prepositions - {"of"})
    return next((at for at in range(start, len(words)) if words[at].lower() in stops), len(words))


def _noun_phrase(words: Sequence[str], start: int) -> _Span | None:
    """Return the noun phrase whose article stands at `start`, where its end is sure.

    "Does the library lend games?", "Is learning a language hard?": behind such words a verb or an
    adjective follows at some place, which is known or not.
    """
    rules = _rules()
    end = _noun_end(words, start + 1)
    what_is = _WHAT_IS.match(" ".join(words))
    if end == start + 1:
        return None
    if what_is is not None and len(what_is[0].split()) == start:
        return _Span(start, end)
    lower = [word.lower() for word in words]
    more = "there" not in lower and not _BEING.isdisjoint(lower[:start])
    more = more or lower[start - 1] in rules.finite - {"there"}
    if more and (end == len(words) or lower[end] not in rules.after_noun):
        return None
    return _Span(start, end)


class _Topic(NamedTuple):
    """What an earlier question is about, where that is sure."""

    text: str
    plural: bool
    person: bool


def _with_name(asked: str, before: str) -> str | None:
    """Put what an earlier question is about in the place of a pronoun, if both are sure."""
    pronoun = _PRONOUN.search(asked)
    if pronoun is None or not _points_back(asked, pronoun.start()):
        return None
    # "How do I block my card? What does it cost?": the card, or the blocking.
    if _ACTION.match(before) and _rules().event.search(asked):
        return None
    topic = _topic(before)
    if topic is None or not _agrees(pronoun, topic):
        return None
    owner = bool(pronoun["its"] or pronoun["theirs"])
    if owner and not _rules().prepositions.isdisjoint(topic.text.lower().split()):
        return None
    ending = ("’" if topic.text.endswith("s") else "’s") if owner else ""
    return f"{asked[: pronoun.start()]}{topic.text}{ending}{asked[pronoun.end() :]}"


def _points_back(asked: str, at: int) -> bool:
    """Whether a pronoun has to stand for something outside its question.

    Nothing that it could stand for comes before it: at most the verb, or "a fee for" it.
    """
    rules = _rules()
    if len(asked.split()) > _SHORT_QUESTION or rules.expletive.search(asked):
        return False
    content = [word for word in asked[:at].lower().split() if word.strip(",") not in rules.light]
    return len([word for word in content if word not in ("a", "an")]) <= 1


def _agrees(pronoun: re.Match[str], topic: _Topic) -> bool:
    if pronoun["person"]:
        return topic.person and not topic.plural
    return topic.plural == bool(pronoun["they"] or pronoun["theirs"])


def _topic(before: str) -> _Topic | None:
    """Return what a question is about: all of "what is …", or the only thing it names."""
    rules = _rules()
    words = before.split()
    what_is = _WHAT_IS.match(before)
    names = _names(words)
    articles = [at for at, word in enumerate(words) if word.lower() in _ARTICLES]
    if what_is is not None and not any(articles[0] + 1 != name.start for name in names):
        rest = before[what_is.end() :]
        lower = rest.lower().split()
        whole = rules.after_noun.isdisjoint(lower) and not lower[-1].endswith("ed")
        if not whole or lower[-1] in rules.prepositions:
            return None
        return _Topic(rest, bool(what_is["many"]), bool(what_is["who"]))
    if len(names) > 1 or len(articles) > 1 or not (names or articles):
        return None
    if articles and names and names[0].start != articles[0] + 1:
        return None
    place = _noun_phrase(words, articles[0]) if articles else _lone_name(words, names[0])
    if place is None:
        return None
    around = (words[at].lower() for at in (place.start - 1, place.end) if 0 <= at < len(words))
    if not (rules.prepositions - {"for", "about"}).isdisjoint(around):
        return None
    text = " ".join(words[place.start : place.end])
    head = text.split(" of ")[0].lower()
    plural = bool(articles) and head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return _Topic(text, plural, person=False)


def _lone_name(words: Sequence[str], name: _Span) -> _Span | None:
    """Return a name that is the whole of its noun phrase: "Tarnwick", not "Tarnwick's harbour"."""
    rules = _rules()
    if words[name.end - 1].lower().endswith(("'s", "’s", "'", "’")):
        return None
    subject = words[name.start - 1].lower() in rules.finite
    return name if subject or _noun_end(words, name.start) == name.end else None
