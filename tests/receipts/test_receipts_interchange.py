"""Signatures, Web Annotations and text fragments."""

import json
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag import load_receipt, save_receipt, verify_receipt
from grounded_rag.errors import MissingExtraError, ReceiptError
from grounded_rag.receipts import sign, text_fragment_links, to_web_annotation, verify_signature
from grounded_rag.receipts.interchange import text_fragment_link
from grounded_rag.receipts.make import seal

RATE = "The Everyday Saver pays 1.85% gross a year."


@pytest.fixture
def receipt(bank):
    return bank.answer(RATE).receipt()


@pytest.fixture
def keys():
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    private = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    return private.private_bytes_raw(), private.public_key().public_bytes_raw()


def test_a_signature_holds_until_anything_changes(receipt, keys, tmp_path):
    private, public = keys
    signed = load_receipt(save_receipt(sign(receipt, private), tmp_path))
    assert verify_signature(signed, public)
    check = verify_receipt(signed, public_key=public)
    assert (check.signature, check.altered) == ("valid", ())
    forged = seal(signed.model_copy(update={"question": "Another question?"}))
    assert not verify_signature(forged, public)
    assert [p.kind for p in verify_receipt(forged, public_key=public).altered] == ["signature"]
    assert verify_receipt(signed).signature == "not_checked"


def test_another_key_and_no_signature_are_told(receipt, keys):
    _private, public = keys
    other = sign(receipt, bytes(32))
    assert verify_receipt(other, public_key=public).signature == "invalid"
    assert verify_receipt(receipt, public_key=public).signature == "missing"
    swapped = other.signature.model_copy(update={"public_key": public.hex()})
    assert not verify_signature(other.model_copy(update={"signature": swapped}), public)


def test_what_cannot_be_signed(receipt, keys, monkeypatch):
    private, _public = keys
    with pytest.raises(ReceiptError):
        sign(receipt.model_copy(update={"question": "?"}), private)
    with pytest.raises(ReceiptError):
        sign(receipt, b"short")
    with pytest.raises(ReceiptError):
        verify_signature(receipt, b"short")
    monkeypatch.setitem(
        __import__("sys").modules, "cryptography.hazmat.primitives.asymmetric", None
    )
    with pytest.raises(MissingExtraError, match="cryptography"):
        sign(receipt, private)


def test_annotations_name_the_place_twice(receipt, bank):
    page = json.loads(to_web_annotation(receipt).to_json())
    assert page["@context"] == "http://www.w3.org/ns/anno.jsonld"
    assert page["type"] == "AnnotationPage"
    (item,) = page["items"]
    assert item["body"]["value"] == RATE
    quote, position = item["target"]["selector"]
    text = (bank.folder / "rates.md").read_text(encoding="utf-8")
    assert text[position["start"] : position["end"]] == quote["exact"] == RATE
    assert quote["prefix"] + RATE + quote["suffix"] in text


def test_only_web_sources_get_links(receipt):
    assert text_fragment_links(receipt) == ()
    (source,) = receipt.sources
    web = source.model_copy(update={"source": "https://bank.example/rates?a=1&b=2#top"})
    (item,) = text_fragment_links(receipt.model_copy(update={"sources": (web,)}))
    assert item.link == (
        "https://bank.example/rates?a=1&b=2#top:~:text="
        "The%20Everyday%20Saver%20pays%201.85%25%20gross%20a%20year."
    )


@pytest.mark.parametrize(
    "address", ["rates.md", "javascript:alert(1)", "file:///x", "https://", ""]
)
def test_what_is_no_web_address_has_no_link(address):
    assert text_fragment_link(address, "a quote") is None


def named_by(link):
    """Return the texts that a browser reads from the fragment of a link."""
    directive = link.partition(":~:text=")[2]
    assert not set(directive) & set(' "<>&#-\n')
    return [unquote(part) for part in directive.split(",")]


@given(quote=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_a_fragment_round_trips_whatever_the_quote_holds(quote):
    link = text_fragment_link("https://bank.example/rates", quote)
    assert named_by(link) == [" ".join(quote.split())]


def test_a_long_quote_is_named_by_both_ends():
    words = [f"word-{number}" for number in range(100)]
    link = text_fragment_link("https://bank.example/rates", "\n".join(words))
    assert named_by(link) == [" ".join(words[:6]), " ".join(words[-6:])]
