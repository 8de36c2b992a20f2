"""Receipts as W3C Web Annotations: each claim as a note on the place that carries it."""

from __future__ import annotations

from typing import Literal, NamedTuple
from urllib.parse import quote as percent_encode
from urllib.parse import unquote, urlsplit

from pydantic import Field

from grounded_rag.types import Frozen, Receipt, ReceiptCitation, ReceiptSource, Span

_MARK = ":~:text="
_LONG = 300
_END_WORDS = 6


def is_web(address: str) -> bool:
    """Whether an address is one that a browser opens from the web."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


class TextFragment(NamedTuple):
    """What a text fragment asks a browser to find.

    Attributes:
        start: The whole quote, or the beginning of a long one.
        end: The end of a long quote, or "".
        prefix: Words right before it, or "".
        suffix: Words right after it, or "".
    """

    start: str
    end: str = ""
    prefix: str = ""
    suffix: str = ""

    def encode(self) -> str:
        """Return the fragment directive, from `:~:text=` on."""
        parts = [_encode(self.start)]
        if self.end:
            parts.append(_encode(self.end))
        if self.prefix:
            parts.insert(0, _encode(self.prefix) + "-")
        if self.suffix:
            parts.append("-" + _encode(self.suffix))
        return _MARK + ",".join(parts)


def fragment_of(quote: str) -> TextFragment:
    """Return the fragment of a quote: white space counts as one space, long quotes by both ends."""
    words = quote.split()
    whole = " ".join(words)
    if len(whole) <= _LONG or len(words) <= 2 * _END_WORDS:
        return TextFragment(whole)
    return TextFragment(" ".join(words[:_END_WORDS]), " ".join(words[-_END_WORDS:]))


def parse_fragment(link: str) -> TextFragment | None:
    """Return the text fragment of a link, or None where it has none."""
    _, mark, directive = link.partition(_MARK)
    if not mark:
        return None
    parts = directive.partition("&")[0].split(",")
    prefix = unquote(parts.pop(0)[:-1]) if parts[0].endswith("-") else ""
    suffix = unquote(parts.pop()[1:]) if parts and parts[-1].startswith("-") else ""
    if not 1 <= len(parts) <= 2 or not parts[0]:
        return None
    start, *end = map(unquote, parts)
    return TextFragment(start, end[0] if end else "", prefix, suffix)


def text_fragment_link(address: str, quote: str) -> str | None:
    """Return a link that opens a web page at a quote; None for what is no web address.

    Args:
        address: Address of the page; a fragment that it has already stays.
        quote: The quote, as the page shows it.
    """
    if not is_web(address) or not quote.strip():
        return None
    page = address.partition(_MARK)[0]
    return f"{page}{'' if '#' in page else '#'}{fragment_of(quote).encode()}"


class QuoteLink(NamedTuple):
    """The link of one quote of a receipt."""

    quote: str
    link: str


def text_fragment_links(receipt: Receipt) -> tuple[QuoteLink, ...]:
    """Return a link for each quote of a receipt whose source is a web address, in order."""
    sources = {source.chunk_id: source.source for source in receipt.sources}
    links = [
        QuoteLink(citation.quote, link)
        for claim in receipt.claims
        for citation in claim.citations
        if (link := text_fragment_link(sources[citation.chunk_id], citation.quote)) is not None
    ]
    return tuple(dict.fromkeys(links))


def _encode(text: str) -> str:
    # A hyphen would mark a prefix or a suffix; commas and ampersands are encoded by `quote`.
    return percent_encode(text, safe="").replace("-", "%2D")


_CONTEXT = "http://www.w3.org/ns/anno.jsonld"
_AROUND = 32


class TextQuoteSelector(Frozen):
    """The quote with some characters before and after it."""

    type: Literal["TextQuoteSelector"] = "TextQuoteSelector"
    exact: str
    prefix: str = ""
    suffix: str = ""


class TextPositionSelector(Frozen):
    """The quote's place: half-open, in code points of the document's canonical text."""

    type: Literal["TextPositionSelector"] = "TextPositionSelector"
    start: int
    end: int


class Target(Frozen):
    """The document that is annotated, and where; the selectors name the same place."""

    source: str
    selector: tuple[TextQuoteSelector, TextPositionSelector]


class TextualBody(Frozen):
    """The claim."""

    type: Literal["TextualBody"] = "TextualBody"
    value: str
    format: Literal["text/plain"] = "text/plain"
    purpose: Literal["describing"] = "describing"


class WebAnnotation(Frozen):
    """One claim on one place."""

    id: str
    type: Literal["Annotation"] = "Annotation"
    motivation: Literal["describing"] = "describing"
    created: str
    body: TextualBody
    target: Target


class AnnotationPage(Frozen):
    """All annotations of one receipt; `to_json` gives JSON-LD."""

    context: str = Field(default=_CONTEXT, serialization_alias="@context")
    id: str
    type: Literal["AnnotationPage"] = "AnnotationPage"
    items: tuple[WebAnnotation, ...] = ()

    def to_json(self) -> str:
        """Return the page as JSON-LD."""
        return self.model_dump_json(by_alias=True, indent=2)


def to_web_annotation(receipt: Receipt) -> AnnotationPage:
    """Return a receipt's claims as W3C Web Annotations, one for each quote.

    Sources that are no web address are named by their percent-encoded path.
    """
    sources = {source.chunk_id: source for source in receipt.sources}
    name = f"urn:grounded-rag:receipt:{receipt.content_hash}"
    items = [
        WebAnnotation(
            id=f"{name}:{index}:{number}",
            created=receipt.created_at.isoformat(),
            body=TextualBody(value=claim.text),
            target=_target(citation, sources[citation.chunk_id]),
        )
        for index, claim in enumerate(receipt.claims)
        for number, citation in enumerate(claim.citations)
    ]
    return AnnotationPage(id=name, items=tuple(items))


def _target(citation: ReceiptCitation, source: ReceiptSource) -> Target:
    span, text = citation.chunk_span, source.text or ""
    return Target(
        source=source.source if is_web(source.source) else percent_encode(source.doc_id),
        selector=(
            TextQuoteSelector(
                exact=citation.quote,
                prefix=text[max(0, span.start - _AROUND) : span.start],
                suffix=text[span.end : span.end + _AROUND],
            ),
            TextPositionSelector(
                start=citation.document_span.start, end=citation.document_span.end
            ),
        ),
    )


def find_target(target: Target, text: str) -> Span | None:
    """Return the place that an annotation means in a text; None where it is not to be told.

    The position counts where the quote stands there; otherwise the quote with its surroundings
    must stand exactly once.
    """
    quote, position = target.selector
    span = Span(start=position.start, end=position.end)
    if span.of(text) == quote.exact:
        return span
    whole = quote.prefix + quote.exact + quote.suffix
    at = text.find(whole)
    if at < 0 or text.find(whole, at + 1) >= 0:
        return None
    start = at + len(quote.prefix)
    return Span(start=start, end=start + len(quote.exact))
