"""Questions that no document can answer, whatever it says: for advice, or for a guess.

A sentence on the topic is easily found, and it is no answer. These are cues in the wording, and
weigh against answering; they do not decide alone.
"""

from __future__ import annotations

import re

_MOST = 2_000

_OPINION = re.compile(
    r"(?:^|[.,;:!?–-]\s*|\b(?:and|or|but|so|think|honestly)\s+)(?:should|ought) (?:i|we)\b"
    r"|\bought (?:i|we)\b|\bif you were (?:me|in my)\b|\bwhat would (?:you do|an? \w+ person)\b"
    r"|\b(?:would|do|could|can) you (?:personally |rather )?"
    r"(?:think|recommend|advise|suggest|choose|pick|put|prefer|reckon)\b"
    r"|\bis it (?:really |still |ever )?"
    r"(?:wiser?|smart(?:er)?|clever|better|worth|sensible|reasonable|prudent|a good idea)\b"
    r"|\bbetter (?:deal|choice|option|idea)\b|\b(?:better|best|right) for (?:me|us|someone like)\b"
    r"|\b(?:my|our) (?:chances|odds)\b|\bdo (?:i|we) (?:accept|take|choose)\b[^.?!]{0,200}\bor\b"
    r"|\bworth it\b|\bsoll(?:te)? (?:ich|man)\b|\blohnt (?:es )?sich\b",
    re.IGNORECASE,
)
_GUESS = re.compile(
    r"\bguess(?:ed|es|ing|timate)?\b|\bballpark\b|\bhunch\b|\bspeculat\w{1,8}\b|\bplausible\b"
    r"|\brough(?:ly)? (?:estimate|idea|figure|number|how)\b|\bestimate (?:it|for|me)\b"
    r"|\bjust estimate\b|\byou had to (?:bet|say|guess|choose)\b|\bsome idea\b"
    r"|\bmake (?:something|it|one) up\b|\bmake up (?:something|one|an?)\b|\binvent\b"
    r"|\bjust (?:say|give me|tell me) (?:something|anything|some|any|a (?:number|figure|date))\b"
    r"|\blikely (?:price|cost|rate|figure)\b|\bhow likely (?:am|is|are|will)\b|\bschätz\w{0,8}\b",
    re.IGNORECASE,
)


def asks_opinion(question: str) -> bool:
    """Whether a question asks for advice or an opinion ("should I …", "which is better for me")."""
    return _OPINION.search(question[:_MOST]) is not None


def asks_guess(question: str) -> bool:
    """Whether a question asks for a guess or an estimate ("ballpark", "if you had to bet")."""
    return _GUESS.search(question[:_MOST]) is not None
