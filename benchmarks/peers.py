"""Other quote checkers, each as its documentation says to use it, with its default settings.

    ours         grounded_rag.verify(draft, chunks, checks=()): located, without a problem
    gtrex        Verifier(chunk, Policy()).verify(quote).grounded
    instructor   a model with CitationMixin, context={"context": chunk}: the quote is kept
    langextract  Resolver().align([Extraction], chunk): a character interval is given
    rapidfuzz    fuzz.partial_ratio(quote, chunk) >= 90
    in           quote in chunk

Each peer is given the text of the cited chunk alone. Install them with
`pip install gtrex langextract rapidfuzz instructor`; those that are missing are named and left out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from grounded_rag import verify

Checker = Callable[[str, str], bool]
"""From the chunk's text and the quote to whether the quote is accepted."""


@dataclass(frozen=True)
class Peer:
    """A quote checker: its name, how to install it, and a maker that raises ImportError."""

    name: str
    package: str
    make: Callable[[], Checker]


def _ours() -> Checker:
    def check(text: str, quote: str) -> bool:
        draft = {"claims": [{"text": quote, "chunk_id": "c1", "quote": quote}]}
        (verdict,) = verify(draft, [{"id": "c1", "text": text}], checks=()).claims
        (found,) = verdict.citations
        return found.located is not None and found.problem is None

    return check


def _gtrex() -> Checker:
    from gtrex import Policy, Verifier

    return lambda text, quote: bool(Verifier(text, Policy()).verify(quote).grounded)


def _instructor() -> Checker:
    from instructor import CitationMixin

    class Fact(CitationMixin):
        """A fact with its quotes, as in the documentation of CitationMixin."""

    def check(text: str, quote: str) -> bool:
        fact = Fact.model_validate({"substring_quotes": [quote]}, context={"context": text})
        return bool(fact.substring_quotes)

    return check


def _langextract() -> Checker:
    from langextract.core.data import Extraction
    from langextract.resolver import Resolver

    logging.getLogger("absl").setLevel(logging.ERROR)
    resolver = Resolver()

    def check(text: str, quote: str) -> bool:
        wanted = Extraction(extraction_class="quote", extraction_text=quote)
        (found,) = resolver.align([wanted], text, token_offset=0)
        return found.char_interval is not None and found.char_interval.start_pos is not None

    return check


def _rapidfuzz() -> Checker:
    from rapidfuzz import fuzz

    return lambda text, quote: fuzz.partial_ratio(quote, text) >= 90


def _plain() -> Checker:
    return lambda text, quote: quote in text


PEERS = (
    Peer("ours", "grounded-rag", _ours),
    Peer("gtrex", "gtrex", _gtrex),
    Peer("instructor", "instructor", _instructor),
    Peer("langextract", "langextract", _langextract),
    Peer("rapidfuzz>=90", "rapidfuzz", _rapidfuzz),
    Peer("in", "", _plain),
)


def available(names: set[str] | None = None) -> dict[str, Checker]:
    """Return the checkers that are installed, by name; say which are not."""
    found: dict[str, Checker] = {}
    for peer in PEERS:
        if names is not None and peer.name.partition(">")[0] not in names:
            continue
        try:
            found[peer.name] = peer.make()
        except ImportError:
            print(f"{peer.name}: not installed (pip install {peer.package})")
    return found
