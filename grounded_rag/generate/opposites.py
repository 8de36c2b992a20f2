"""Words that say the opposite: a sentence that holds one instead of the asked word is no answer."""

from __future__ import annotations

from grounded_rag.text.stems import stem

_ROWS = """
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


def _table() -> dict[str, frozenset[str]]:
    sets: dict[str, set[str]] = {}
    for pair in _ROWS.replace("\n", "|").split("|"):
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


_OPPOSITES = _with_days(_table())


def opposites(stemmed: str) -> frozenset[str]:
    """Return the stems of the opposites of a stem; empty for most words."""
    return _OPPOSITES.get(stemmed, frozenset())
