"""How far the words of a question are found in a piece of text: for ranking, never for checking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from grounded_rag.generate.candidates import Candidate
from grounded_rag.generate.question import Term, is_common
from grounded_rag.text.spelling import nearest_term, replaced, suspects
from grounded_rag.text.words import Word, guess_language, related, stem, tokenize

_ROWS = """
cost price fee charge pay payment | earn pay yield interest | buy purchase order
atm cashpoint machine | bill invoice | salary wage income | job employment employer
start begin open commence | end stop finish close cancel terminate | quit leave cancel
get receive obtain | give provide offer grant | need require must necessary | ask request apply
help support assist assistance | phone telephone call | mobile phone | mail post letter
email mail message | address residence | lost missing | stolen theft steal | fix mend repair
pay repay settle | owe debt due | penalty compensation fine fee | refund reimburse money
reimbursement refund | permit allow permission | forbid prohibit prohibited | big large great
small little minor | maximum most highest limit largest | minimum least lowest smallest
limit maximum cap | fast quick quickly soon | long duration period term | time hour
kid child minor | parent guardian | dead die death deceased | husband wife spouse partner
car vehicle | home house property | flat apartment | boss manager head director
employee staff worker colleague | customer client | company firm business | shop store merchant
form application document | proof evidence document | id identity identification passport
password pin code | login sign access | website site online internet | app application
error mistake fault | problem issue trouble | wrong incorrect error | change alter amend modify
move transfer switch | send transfer | abroad foreign overseas international | currency money
rise increase raise | drop fall decrease reduce lower | yearly annual year | monthly month
weekly week | daily day | weekend saturday sunday | holiday vacation | illness sick ill disease
doctor physician | kill murder death | war conflict | make produce create | build construct
found establish create | write author | invent discover | call name | happen occur take
live reside inhabit | show display demonstrate | use employ utilize | old age | big size
people population | speed fast | weight heavy | height tall high | depth deep | distance far
"""


def _table() -> dict[str, frozenset[str]]:
    sets: dict[str, set[str]] = {}
    for row in _ROWS.replace("\n", "|").split("|"):
        stems = [stem(word) for word in row.split()]
        for word in stems:
            sets.setdefault(word, set()).update(stems)
    return {word: frozenset(others - {word}) for word, others in sets.items()}


_SYNONYMS = _table()


def synonyms(stemmed: str) -> frozenset[str]:
    """Return the stems of words of like meaning; empty for most words."""
    return _SYNONYMS.get(stemmed, frozenset())


_OPPOSITES_ROWS = """
most / least fewest | more / less fewer | first / last final | largest biggest / smallest lowest
highest / lowest | best / worst | maximum max / minimum min | earliest / latest | oldest / newest
before / after subsequent following | earlier prior previous / later subsequent
born birth / died die death | begin start / end finish cease stop | open / close closed
win won victory / lose lost defeat | increase raise / decrease reduce lower cut
rise grow / fall decline shrink | accept approve / reject refuse deny decline
allow permit / forbid prohibit prevent ban | support / oppose | north northern / south southern
east eastern / west western | male / female | major / minor | old / new young | early / late
inside / outside | above / below | internal / external | high / low | hot / cold
large big / small | rich / poor | strong / weak | attract / repel | include / exclude
import / export | buy purchase / sell sale | deposit / withdraw withdrawal | credit / debit
borrow / lend | employer / employee | positive / negative | legal / illegal
possible / impossible | able / unable | known / unknown | public / private | always / never
all / none | same / different | simple / complex | direct / indirect | active / passive inactive
variable / fixed | joint / single sole | personal / business | domestic / international foreign
arrive / leave depart | success / failure | create build / destroy | appear / disappear
gain / lose | normal / abnormal | natural / artificial | primary / secondary | senior / junior
upper / lower | left / right | fast quick / slow | long / short | heavy / light
agree / disagree | connect / disconnect | encourage / discourage | cause / prevent
better / worse | greater / smaller less | send sent / receive | incoming / outgoing
opening / closing | minimum / maximum | unlimited / limited | free / charged | online / branch
secured / unsecured | full / partial | voluntary / compulsory | eligible / ineligible
authorised authorized / unauthorised unauthorized | credit / debit | lender / borrower
"""


def _opposites_table() -> dict[str, frozenset[str]]:
    sets: dict[str, set[str]] = {}
    for pair in _OPPOSITES_ROWS.replace("\n", "|").split("|"):
        if "/" not in pair:
            continue
        left, right = ([stem(word) for word in side.split()] for side in pair.split("/"))
        for here, there in ((left, right), (right, left)):
            for word in here:
                sets.setdefault(word, set()).update(there)
    return {word: frozenset(others - {word}) for word, others in sets.items()}


_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


def _with_days(table: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    days = frozenset(stem(day) for day in _DAYS)
    return table | {day: days - {day} for day in days}


_OPPOSITES = _with_days(_opposites_table())


def opposites(stemmed: str) -> frozenset[str]:
    """Return the stems of the opposites of a stem; empty for most words."""
    return _OPPOSITES.get(stemmed, frozenset())


_DERIVED = 0.8
_SYNONYM = 0.6
_TYPO = 0.7
_TYPO_LENGTH = 5

Matches = Mapping[str, float]
"""Stems that match one term, each with a strength from 0 to 1."""


def match_stems(terms: Sequence[Term], vocabulary: Mapping[str, str]) -> list[Matches]:
    """Return for each term the stems of the vocabulary that match it.

    Equal stems match fully; derivations ("transfer", "transferable"), single typing errors in
    longer words and everyday synonyms less. One pass for all sentences keeps this off the hot path.

    Args:
        terms: Terms of the question.
        vocabulary: All stems of the passages, each with a word that has it: a typing error near
            the end of a word can change its stem altogether.
    """
    return [_matches(term.word, vocabulary) for term in terms]


def strength(matches: Matches, stems: frozenset[str]) -> float:
    """Return how strongly the best of `stems` matches."""
    if len(matches) < len(stems):
        return max((value for stem, value in matches.items() if stem in stems), default=0.0)
    return max((matches.get(stem, 0.0) for stem in stems), default=0.0)


def _matches(word: Word, vocabulary: Mapping[str, str]) -> Matches:
    found: dict[str, float] = {}
    alike = synonyms(word.stem)
    for term, lower in vocabulary.items():
        if term == word.stem:
            found[term] = 1.0
        elif word.kind == "word":
            if len(term) >= 4 and related(word.stem, term):
                found[term] = _DERIVED
            elif is_typo(word.stem, term) or is_typo(word.lower, lower):
                found[term] = _TYPO
            elif term in alike:
                found[term] = _SYNONYM
    return found


def is_typo(left: str, right: str) -> bool:
    """Whether two longer words differ by one letter added, left out, changed or swapped.

    The first letter must agree: typing errors seldom hit it, and different words often differ
    there.
    """
    if min(len(left), len(right)) < _TYPO_LENGTH or left[0] != right[0]:
        return False
    if abs(len(left) - len(right)) > 1 or not (left.isalpha() and right.isalpha()):
        return False
    at = 0
    while at < min(len(left), len(right)) and left[at] == right[at]:
        at += 1
    if len(left) == len(right):
        changed = left[at + 1 :] == right[at + 1 :]
        swapped = left[at : at + 2] == right[at : at + 2][::-1]
        return changed or (swapped and left[at + 2 :] == right[at + 2 :])
    shorter, longer = sorted((left, right), key=len)
    return shorter[at:] == longer[at + 1 :]


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
