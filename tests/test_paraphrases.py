"""The true paraphrases of the demo corpus: quotes verbatim, words changed, split by hash."""

import hashlib
import json
from collections import Counter

import pytest

from grounded_rag.ingest import read_document, scan
from grounded_rag.resources import demo_corpus_dir

ITEMS = [
    json.loads(line)
    for line in (demo_corpus_dir() / "paraphrases.jsonl").read_text(encoding="utf-8").splitlines()
]
FIELDS = {"id", "file", "quote", "paraphrase", "near", "kind", "split"}


@pytest.fixture(scope="module")
def texts():
    found = scan(demo_corpus_dir())
    return {file.doc_id: read_document(file).document.text for file in found.files}


def test_every_quote_is_verbatim_in_its_document(texts):
    for item in ITEMS:
        assert item["quote"].strip(), item["id"]
        assert item["quote"] in texts[item["file"]], item["id"]


def test_fields_are_complete_and_no_paraphrase_is_a_copy(texts):
    for item in ITEMS:
        assert set(item) == FIELDS, item["id"]
        assert item["near"] in ("close", "middle", "far"), item["id"]
        assert item["paraphrase"] == item["paraphrase"].strip() != "", item["id"]
        plain = " ".join(texts[item["file"]].split()).casefold()
        assert item["paraphrase"].casefold().rstrip(".") not in plain, item["id"]


def test_ids_and_paraphrases_are_unique():
    assert len({item["id"] for item in ITEMS}) == len(ITEMS)
    assert len({item["paraphrase"] for item in ITEMS}) == len(ITEMS)


def test_splits_follow_the_hash_of_the_id():
    for item in ITEMS:
        even = int(hashlib.sha256(item["id"].encode()).hexdigest(), 16) % 2 == 0
        assert item["split"] == ("dev" if even else "test"), item["id"]


def test_the_set_is_large_enough_and_spread_out():
    assert len(ITEMS) >= 320
    near = Counter(item["near"] for item in ITEMS)
    assert min(near.values()) >= 0.25 * len(ITEMS)
    assert min(Counter(item["split"] for item in ITEMS).values()) >= 0.4 * len(ITEMS)
    assert len({item["file"] for item in ITEMS}) >= 80
    kinds = Counter(item["kind"] for item in ITEMS)
    assert min(kinds[kind] for kind in ("number", "condition", "negation", "table", "hedge")) >= 40
