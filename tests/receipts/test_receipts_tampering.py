"""An altered receipt is told, also where its hash was computed again."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grounded_rag import Receipt, load_receipt, save_receipt, verify_receipt
from grounded_rag.errors import ReceiptError
from grounded_rag.receipts.make import canonical_json, seal

RATE = "The Everyday Saver pays 1.85% gross a year."


@pytest.fixture
def receipt(bank):
    return bank.answer(RATE, question="What does the Everyday Saver pay?").receipt()


def edited(receipt, change):
    """Return the receipt after `change` worked on its JSON."""
    data = json.loads(receipt.to_json())
    change(data)
    return Receipt.model_validate(data)


def altered(receipt):
    check = verify_receipt(receipt)
    assert not check.altered or all(claim.status == "altered" for claim in check.claims)
    return bool(check.altered)


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for key, item in enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path, value


def test_a_sound_receipt_survives_the_disk(receipt, tmp_path):
    again = load_receipt(save_receipt(receipt, tmp_path / "saved"))
    assert again == receipt
    assert not altered(again)


def test_every_changed_value_is_told(receipt):
    changed = set()
    for path, value in leaves(json.loads(receipt.to_json())):
        if value is None or path == ("schema_version",):
            continue

        def change(data, path=path, value=value):
            for key in path[:-1]:
                data = data[key]
            if isinstance(value, bool):
                data[path[-1]] = not value
            elif isinstance(value, int | float):
                data[path[-1]] = value + 1
            else:
                data[path[-1]] = value[:-1] + ("0" if value[-1:] != "0" else "1")

        try:
            other = edited(receipt, change)
        except ValueError:
            continue  # no receipt at all any more
        assert altered(other), path
        changed.add(path)
    assert {path[0] for path in changed} >= {"claims", "sources", "policy", "question", "text"}
    assert {path[-1] for path in changed} >= {"quote", "sentence", "start", "end", "document_hash"}
    policy = {path[1] for path in changed if path[0] == "policy"}
    assert policy == {name for name, value in receipt.policy.items() if value is not None}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_one_changed_character_of_claim_quote_or_sentence_is_told(receipt, data):
    field = data.draw(st.sampled_from(["text", "quote", "sentence"]))
    target = receipt.claims[0] if field == "text" else receipt.claims[0].citations[0]
    old = getattr(target, field)
    at = data.draw(st.integers(0, len(old) - 1))
    new = old[:at] + data.draw(st.characters(exclude_categories=["Cs"])) + old[at + 1 :]

    def change(content):
        claim = content["claims"][0]
        (claim if field == "text" else claim["citations"][0])[field] = new

    assert altered(edited(receipt, change)) == (new != old)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("quote", lambda d: d["claims"][0]["citations"][0].update(quote=RATE.replace("5", "6"))),
        ("sentence", lambda d: d["claims"][0]["citations"][0].update(sentence="It pays 9%.")),
        ("span", lambda d: d["claims"][0]["citations"][0]["document_span"].update(start=1)),
        ("span", lambda d: d["sources"][0]["span"].update(start=7)),
        ("quote", lambda d: d["claims"][0]["citations"][0]["chunk_span"].update(end=30)),
        ("source", lambda d: d["sources"][0].update(text=d["sources"][0]["text"] + " Or 9%.")),
        ("source", lambda d: d.update(sources=[])),
        ("source", lambda d: d["claims"][0]["citations"][0].update(doc_id="fees.md")),
        ("text", lambda d: d.update(text="The Everyday Saver pays 9%. [1]")),
        ("status", lambda d: d.update(claims=[])),
        ("status", lambda d: d.update(status="refused")),
        ("status", lambda d: d.update(refusal={"reason": "claims_failed", "detail": "No."})),
        ("source", lambda d: d["sources"].append(d["sources"][0])),
        ("sentence", lambda d: d["claims"][0]["citations"][0].update(sentence=RATE[:-5])),
        ("tier", lambda d: d["claims"][0].update(tier="none")),
        ("tier", lambda d: d["claims"][0].update(tier="confirmed")),
        ("tier", lambda d: d["claims"][0].update(decided_by="a judge")),
        ("tier", lambda d: d["claims"][0].update(tier="high", decided_by="a judge")),
        ("tier", lambda d: d["claims"][0].update(tier="confirmed", decided_by="arithmetic")),
        (
            "tier",
            lambda d: (d["claims"][0].update(restated=True), d["policy"].update(unproven="refuse")),
        ),
        (
            "unsupported",
            lambda d: (
                d["claims"][0].update(text="The Everyday Saver pays 9.85% gross a year."),
                d.update(text="The Everyday Saver pays 9.85% gross a year. [1]"),
            ),
        ),
    ],
)
def test_a_hash_computed_again_does_not_help(receipt, kind, change):
    check = verify_receipt(seal(edited(receipt, change)))
    assert kind in [problem.kind for problem in check.altered]
    assert "hash" not in [problem.kind for problem in check.altered]


def test_without_texts_a_quote_is_still_as_long_as_its_span(bank):
    receipt = bank.answer(RATE).receipt(include_text=False)
    assert not altered(receipt)

    def change(data):
        citation = data["claims"][0]["citations"][0]
        for span in ("chunk_span", "document_span"):
            citation[span]["end"] += 20

    check = verify_receipt(seal(edited(receipt, change)))
    assert [problem.kind for problem in check.altered] == ["span"]


def test_a_claim_that_another_version_let_pass_is_no_alteration(receipt):
    text = "The Everyday Saver pays 9.85% gross a year."

    def change(data):
        data["claims"][0]["text"] = text
        data.update(text=f"{text} [1]", package_version="0.0.1")

    check = verify_receipt(seal(edited(receipt, change)))
    assert not check.altered
    assert [problem.reason for problem in check.unconfirmed] == ["number_mismatch"]
    assert not check.stands


def test_the_id_is_the_beginning_of_the_hash(receipt):
    assert receipt.content_hash.startswith(receipt.id)
    check = verify_receipt(receipt.model_copy(update={"id": "0" * 32}))
    assert [problem.kind for problem in check.altered] == ["id"]


def test_the_canonical_form_is_sorted_and_leaves_hash_and_signature_out(receipt):
    data = json.loads(canonical_json(receipt))
    assert not {"id", "content_hash", "signature"} & set(data)
    assert canonical_json(receipt).startswith(b'{"as_of":"2025-01-01","claims":[{"checks":[')


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"not json", b'{"schema_version": 2}', b"\xff\xfe", b"[" * 5000],
)
def test_what_is_no_receipt_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(ReceiptError) as error:
        load_receipt(path)
    assert error.value.hint
    assert "\n" not in error.value.message


def test_a_receipt_never_holds_rejected_text(bank):
    answer = bank.answer(RATE)
    assert answer.trace.attempts
    data = json.loads(answer.receipt().to_json())
    assert "trace" not in data
    assert "attempts" not in data
