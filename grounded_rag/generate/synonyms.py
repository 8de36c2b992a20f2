"""Everyday words and the words that documents use for the same: for ranking, never for checking."""

from __future__ import annotations

from grounded_rag.text.stems import stem

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
