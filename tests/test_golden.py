"""The demo corpus and its golden questions: every quote verbatim, every split by hash."""

import hashlib
import json
from collections import Counter

import pytest

from grounded_rag.ingest import read_document, scan
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.validity import parse_instant

ITEMS = [
    json.loads(line)
    for line in (demo_corpus_dir() / "golden.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def texts():
    found = scan(demo_corpus_dir())
    return {file.doc_id: read_document(file).document.text for file in found.files}


def test_every_gold_quote_is_verbatim_in_its_document(texts):
    for item in ITEMS:
        for piece in item["gold"]:
            assert piece["any_of"], item["id"]
            for option in piece["any_of"]:
                assert option["quote"] in texts[option["file"]], (item["id"], option)


def test_fields_fit_together():
    for item in ITEMS:
        assert item["answerable"] in ("yes", "no", "part")
        assert bool(item["gold"]) == (item["answerable"] != "no"), item["id"]
        assert item["unanswered"] in item["question"], item["id"]
        assert bool(item["unanswered"]) == (item["answerable"] == "part"), item["id"]
        assert item["question"].strip()
        assert parse_instant(item["as_of"]) is not None


def test_splits_follow_the_hash_of_the_id():
    for item in ITEMS:
        low = int(hashlib.sha256(item["id"].encode()).hexdigest()[0], 16) < 8
        assert item["split"] == ("dev" if low else "test"), item["id"]


def test_ids_and_questions_are_unique():
    assert len({item["id"] for item in ITEMS}) == len(ITEMS)
    assert len({(item["question"], item["as_of"]) for item in ITEMS}) == len(ITEMS)


def test_the_set_is_large_enough_of_every_kind():
    answerable = Counter(item["answerable"] for item in ITEMS)
    assert answerable["yes"] >= 130
    assert answerable["no"] >= 80
    assert len(ITEMS) >= 240
    assert min(Counter(item["kind"] for item in ITEMS).values()) >= 10


def test_the_corpus_is_large_enough_and_every_document_is_read(texts):
    assert len(texts) >= 45
    assert max(len(text.split()) for text in texts.values()) > 8_000
    suffixes = {name.rsplit(".", 1)[-1] for name in texts}
    assert suffixes >= {"md", "html", "txt", "eml", "pdf", "docx"}
