"""A passage as a model should read it: words that a line end or a soft hyphen cuts, made whole.

Of "re-" at a line's end and "port" on the next line, a model makes "re-report" as well as "report".
The locator bridges the hyphen either way, so that what is shown may differ from what is stored;
quotes stay the stored text.
"""

from __future__ import annotations

import re
from functools import partial

from grounded_rag.text.language import guess_language

_LINE_END = r"[ \t]*(?:\r\n?|\n)[ \t]*"
_SOFT = re.compile(rf"(?<=[^\W\d_])\xad(?:{_LINE_END}(?=[^\W\d_]))?|\xad")
_LETTERS = r"[^\W\d_]{1,40}"
_HYPHEN = re.compile(rf"(?<![^\W_])({_LETTERS})([-‐]){_LINE_END}(?=({_LETTERS}))")
_CUT_WORDS = re.compile(rf"{_LETTERS}(?:[-‐]{_LINE_END}{_LETTERS})+")
_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")


def readable(text: str, *, within: str | None = None) -> str:
    """Return `text` without soft hyphens and line-end hyphens; all else stays as it is.

    Where a line ends in a hyphen between letters, the line end goes, and the hyphen with it. The
    hyphen stays where the text writes the word with one elsewhere, where another stands before
    it ("state-of-the-art") and before a capital ("Anglo-Saxon"). Nothing is joined where the
    second part is a word of its own ("Haus- und Garten").

    Args:
        text: A passage or a sentence of it.
        within: The passage whose words decide, if `text` is a part of one.
    """
    if "\xad" in text:
        text = _SOFT.sub("", text)
    if _HYPHEN.search(text) is None:
        return text
    # The words that a line end cuts are no evidence of how they are written.
    whole = _CUT_WORDS.sub(" ", text if within is None else within)
    words = frozenset(word.lower() for word in _WORD.findall(whole))
    return _HYPHEN.sub(partial(_joined, words=words), text)


def _joined(match: re.Match[str], *, words: frozenset[str]) -> str:
    left, hyphen, right = match.groups()
    chained = match.string[match.start() - 1 : match.start()] in ("-", "‐")
    if chained or right[0].isupper() or f"{left}-{right}".lower() in words:
        return f"{left}{hyphen}"
    stands_alone = right.lower() in words or guess_language(right) is not None
    if stands_alone and (left + right).lower() not in words:
        return match[0]
    return left
