"""The constructed failures of the demo corpus: quotes verbatim, labels that fit the rows."""

import json
import tomllib
from collections import Counter
from datetime import date

import pytest

from grounded_rag.ingest import read_document, scan
from grounded_rag.resources import demo_corpus_dir

KINDS = {
    "retrieval_miss",
    "buried",
    "unfaithful",
    "stale",
    "conflict",
    "irrelevant",
    "wrong_refusal",
    "missed_refusal",
    "source_disagrees",
}
FIELDS = {
    "id",
    "kind",
    "question",
    "as_of",
    "answerable",
    "expected",
    "gold",
    "retrieved",
    "answer",
    "rejected",
    "note",
}
ITEMS = [
    json.loads(line)
    for line in (demo_corpus_dir() / "failures.jsonl").read_text(encoding="utf-8").splitlines()
]
MANIFEST = {
    row["path"]: row
    for row in tomllib.loads((demo_corpus_dir() / "manifest.toml").read_text(encoding="utf-8"))[
        "document"
    ]
}


@pytest.fixture(scope="module")
def texts():
    found = scan(demo_corpus_dir())
    return {file.doc_id: read_document(file).document.text for file in found.files}


def of_kind(*kinds):
    return [item for item in ITEMS if item["kind"] in kinds]


def places(item):
    gold = [option for piece in item["gold"] for option in piece["any_of"]]
    return [*gold, *item["retrieved"], *item["answer"]["claims"], *item["rejected"]]


def same_place(one, other):
    return one["file"] == other["file"] and (
        one["quote"] in other["quote"] or other["quote"] in one["quote"]
    )


def ranks(item):
    """Rank of the best retrieved place of each gold piece, or None where none was retrieved."""
    return [
        next(
            (
                rank
                for rank, place in enumerate(item["retrieved"], 1)
                if any(same_place(place, option) for option in piece["any_of"])
            ),
            None,
        )
        for piece in item["gold"]
    ]


def in_force(file, as_of):
    row, day = MANIFEST.get(file, {}), date.fromisoformat(as_of)
    if not row.get("effective_from", date.min) <= day <= row.get("valid_until", date.max):
        return False
    return day < row.get("superseded_on", date.max)


def test_every_quote_stands_once_in_its_document(texts):
    for item in ITEMS:
        for place in places(item):
            assert texts[place["file"]].count(place["quote"]) == 1, (item["id"], place["quote"])


def test_rows_are_well_formed():
    assert len({item["id"] for item in ITEMS}) == len(ITEMS)
    for item in ITEMS:
        assert set(item) == FIELDS, item["id"]
        assert item["question"].strip(), item["id"]
        assert item["note"].strip(), item["id"]
        assert date.fromisoformat(item["as_of"]), item["id"]
        assert item["answerable"] in ("yes", "no", "part"), item["id"]
        assert bool(item["gold"]) == bool(item["expected"]) == (item["answerable"] != "no")
        assert all(piece["any_of"] for piece in item["gold"]), item["id"]
        assert 3 <= len(item["retrieved"]) <= 8, item["id"]
        assert item["answer"]["status"] in ("answered", "partial", "refused"), item["id"]
        assert bool(item["answer"]["claims"]) == (item["answer"]["status"] != "refused")
        assert all(draft["reason"].strip() for draft in item["rejected"]), item["id"]


def test_no_passage_is_retrieved_twice_and_claims_cite_what_was_retrieved():
    for item in ITEMS:
        found = item["retrieved"]
        assert len({(place["file"], place["quote"]) for place in found}) == len(found), item["id"]
        for claim in [*item["answer"]["claims"], *item["rejected"]]:
            assert any(same_place(claim, place) for place in found), (item["id"], claim["quote"])


def test_every_kind_has_enough_rows():
    counts = Counter(item["kind"] for item in ITEMS)
    assert set(counts) == KINDS
    assert min(counts.values()) >= 14
    assert len(ITEMS) >= 130


def test_only_missed_refusals_have_a_question_without_an_answer():
    for item in ITEMS:
        missed = item["kind"] == "missed_refusal"
        assert (item["answerable"] != "yes") == missed, item["id"]
        assert not missed or item["answer"]["status"] == "answered", item["id"]


def test_the_rank_of_the_evidence_fits_the_kind():
    for item in of_kind("retrieval_miss"):
        assert None in ranks(item), item["id"]
    for item in of_kind("buried"):
        (rank,) = ranks(item)
        assert rank >= 5, item["id"]
    for item in of_kind(
        "unfaithful", "stale", "conflict", "irrelevant", "wrong_refusal", "source_disagrees"
    ):
        assert all(rank is not None and rank <= 4 for rank in ranks(item)), item["id"]


def test_no_document_with_missing_evidence_is_among_the_passages():
    for item in of_kind("retrieval_miss"):
        files = {place["file"] for place in item["retrieved"]}
        for piece, rank in zip(item["gold"], ranks(item), strict=True):
            assert rank or files.isdisjoint(option["file"] for option in piece["any_of"])


def test_refusals_are_where_the_kind_says():
    for item in of_kind("wrong_refusal"):
        assert item["answer"]["status"] == "refused", item["id"]
    for item in of_kind("unfaithful", "stale", "conflict", "irrelevant", "source_disagrees"):
        assert item["answer"]["status"] != "refused", item["id"]


def test_only_stale_rows_cite_documents_out_of_force():
    for item in ITEMS:
        claims = item["answer"]["claims"]
        current = [in_force(claim["file"], item["as_of"]) for claim in claims]
        assert all(current) == (item["kind"] != "stale"), item["id"]
    for item in of_kind("stale"):
        for piece in item["gold"]:
            assert any(in_force(option["file"], item["as_of"]) for option in piece["any_of"])
