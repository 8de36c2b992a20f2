"""From a citation to its place: ids, wrong chunks, edges of chunks, places that repeat."""

import pytest

from grounded_rag import Chunk, Reason, RetrievedChunk, Span, verify


def check(chunks, chunk_id, quote, *, claim="A claim that shares words with nothing at all here."):
    draft = {"claims": [{"text": claim, "chunk_id": chunk_id, "quote": quote}]}
    return verify(draft, chunks, checks=()).claims[0].citations[0]


def chunk(chunk_id, text, **metadata):
    return {"id": chunk_id, "text": text, "metadata": metadata}


TWO = [
    chunk("kb-7:0", "Lockers are cleared every Friday."),
    chunk("kb-7:1", "Keys are issued at the desk against a deposit of 10 euros."),
]
KEYS = "Keys are issued at the desk"


@pytest.mark.parametrize(
    "written",
    ["[kb-7:1]", "[[kb-7:1]]", "`kb-7:1`", "【kb-7:1】", "“kb-7:1”", " kb-7:1\n", "**kb-7:1**"],
)
def test_brackets_and_quotation_marks_around_an_id_come_off(written):
    found = check(TWO, written, KEYS)
    assert found.located.chunk_id == "kb-7:1"
    assert found.id_repaired


@pytest.mark.parametrize(
    "written", ["kb-7:5", "KB-7:1", "4", "c", "kb-7:1, kb-7:0", "", "99999999", "٣"]
)
def test_an_unknown_id_is_never_guessed_although_the_quote_exists(written):
    found = check(TWO, written, KEYS)
    assert found.located is None
    assert found.problem is Reason.UNKNOWN_CHUNK
    assert "kb-7:0" in found.detail


@pytest.mark.parametrize("written", ["0", "1", "2", "[1]", "kb-7"])
def test_an_id_that_may_mean_several_is_ambiguous(written):
    assert check(TWO, written, KEYS).problem is Reason.AMBIGUOUS_CHUNK


def test_an_id_with_brackets_of_its_own_is_itself():
    chunks = [chunk("[1]", "Keys are issued at the desk now.")]
    found = check(chunks, "[1]", KEYS)
    assert found.located.chunk_id == "[1]"
    assert not found.id_repaired


def test_exact_matching_repairs_no_id():
    draft = {"claims": [{"text": "x", "chunk_id": "[kb-7:1]", "quote": KEYS}]}
    verdict = verify(draft, TWO, checks=(), quote_match="exact").claims[0]
    assert verdict.reason is Reason.UNKNOWN_CHUNK


def test_exact_matching_names_the_characters_to_copy():
    draft = {"claims": [{"text": "x", "chunk_id": "c", "quote": "the desk is open"}]}
    chunks = [chunk("c", "Now the desk\nis open all day.")]
    found = verify(draft, chunks, checks=(), quote_match="exact").claims[0].citations[0]
    assert found.problem is Reason.QUOTE_NOT_FOUND
    assert found.nearest == "the desk\nis open"


def test_a_quote_of_another_chunk_names_that_chunk():
    found = check(TWO, "kb-7:0", "keys are issued  at the desk")
    assert found.problem is Reason.WRONG_CHUNK
    assert found.found_in == ("kb-7:1",)
    assert "kb-7:1" in found.detail


def test_a_literal_quote_in_exactly_one_other_chunk_gets_its_label():
    found = check(TWO, "kb-7:0", KEYS)
    assert found.problem is None
    assert found.located.chunk_id == "kb-7:1"
    assert found.id_repaired
    assert found.citation.chunk_id == "kb-7:0"


def test_a_literal_quote_in_two_other_chunks_gets_no_label():
    twice = [*TWO, chunk("kb-7:2", f"Once more: {KEYS}")]
    assert check(twice, "kb-7:0", KEYS).problem is Reason.WRONG_CHUNK


def test_no_label_is_mended_where_quotes_must_be_exact():
    draft = [{"text": KEYS, "chunk_id": "kb-7:0", "quote": KEYS}]
    verdict = verify(draft, TWO, quote_match="exact").claims[0]
    assert verdict.reason is Reason.WRONG_CHUNK


def test_one_id_with_two_texts_is_ambiguous_and_with_one_text_is_not():
    other = [*TWO, chunk("kb-7:1", "Keys are no longer issued.")]
    assert check(other, "kb-7:1", KEYS).problem is Reason.AMBIGUOUS_CHUNK
    assert check([*TWO, TWO[1]], "kb-7:1", KEYS).problem is None


DOCUMENT = "The hall seats 220 people. Cloakroom tickets cost one euro and must be kept."
HALVES = [
    chunk("a", DOCUMENT[:50], doc_id="d", doc_start=0),
    chunk("b", DOCUMENT[27:], doc_id="d", doc_start=27),
]


def test_running_past_a_chunk_is_told_from_inventing():
    found = check(HALVES, "a", "seats 220 people. Cloakroom tickets cost one euro")
    assert found.problem is Reason.BEYOND_CHUNK
    assert "past the end of a into b" in found.detail
    assert found.nearest is not None
    assert found.nearest in DOCUMENT[:50]
    before = check(HALVES, "b", "seats 220 people. Cloakroom tickets cost one euro")
    assert before.problem is Reason.BEYOND_CHUNK
    assert "before the start of b" in before.detail


def test_running_past_the_last_retrieved_chunk_names_no_neighbour():
    found = check(
        HALVES[:1], "a", "The hall seats 220 people. Cloakroom tickets cost nothing at all"
    )
    assert found.problem is Reason.BEYOND_CHUNK
    assert "into" not in found.detail.split(";")[0]


def test_offsets_are_those_of_the_document():
    located = check(HALVES, "b", "cost one euro").located
    assert located.document_span.of(DOCUMENT) == "cost one euro"
    assert located.chunk_span.of(HALVES[1]["text"]) == "cost one euro"


TENANTS = (
    "# Tenants\n\nTenant A: deposit is 500. Notice period is 30 days.\n\n"
    "Tenant B: deposit is 700. Notice period is 30 days.\n"
)


@pytest.mark.parametrize(("tenant", "which"), [("A", 0), ("B", 1)])
@pytest.mark.parametrize("quote", ["Notice period is 30 days.", "Notice  period is 30\ndays."])
def test_of_repeated_text_the_place_that_carries_the_claim_is_chosen(tenant, which, quote):
    claim = f"Tenant {tenant} has a notice period of 30 days."
    located = check([chunk("c", TENANTS)], "c", quote, claim=claim).located
    assert len(located.occurrences) == 2
    assert located.chunk_span == located.occurrences[which]
    assert not located.ambiguous


@pytest.mark.parametrize(
    ("text", "quote", "claim", "start"),
    [
        (
            "甲店：休みは月曜。電話あり。乙店：休みは火曜。電話あり。",
            "電話あり。",
            "乙店に電話あり。",
            23,
        ),
        (
            "Gate 1 is red.\nIt opens at 9.\nGate 2 is blue.\nIt opens at 9.",
            "It opens at 9",
            "Gate 2 opens at 9.",
            46,
        ),
        (
            "Basic costs 4 a month. Plus costs 4 a month in spring.",
            "costs 4 a month",
            "Plus costs 4 a month in spring.",
            28,
        ),
    ],
)
def test_surroundings_decide_in_other_texts_too(text, quote, claim, start):
    located = check([chunk("c", text)], "c", quote, claim=claim).located
    assert located.chunk_span.start == start
    assert not located.ambiguous


def test_what_nothing_decides_is_flagged():
    draft = {
        "claims": [
            {
                "text": "The notice period is 30 days.",
                "chunk_id": "c",
                "quote": "Notice period is 30 days.",
            }
        ]
    }
    verification = verify(draft, [chunk("c", TENANTS)], checks=())
    assert verification.claims[0].located[0].ambiguous
    assert [flag.kind.value for flag in verification.flags] == ["ambiguous_location"]


def test_a_place_in_the_text_is_preferred_to_the_same_words_in_a_heading():
    text = "## A notice period is 30 days\n\nThe notice period is 30 days for all."
    located = check([chunk("c", text)], "c", "notice period is 30 days").located
    assert located.chunk_span.start > text.index("\n")


@pytest.mark.parametrize("spans", [True, False])
def test_a_heading_is_no_evidence(spans):
    text = "## Effects of moisture on cracking\n\nThe kiln is inspected each quarter."
    heading = Span(start=0, end=34)
    passage = RetrievedChunk(
        chunk=Chunk(
            id="c",
            doc_id="d",
            span=Span(start=0, end=len(text)),
            text=text,
            content_hash="0",
            heading_spans=(heading,) if spans else (),
        )
    )
    assert check([passage], "c", "Effects of moisture on cracking").problem is Reason.HEADING_ONLY
    assert check([passage], "c", "The kiln is inspected each quarter").problem is None


def test_title_headings_metadata_and_question_are_no_evidence():
    chunks = [
        chunk(
            "c",
            "The kiln is inspected.",
            title="Kiln safety rules",
            headings=["Moisture effects"],
            note="Checked by the board",
        )
    ]
    for quote in ("Kiln safety rules", "Moisture effects", "Checked by the board"):
        assert check(chunks, "c", quote).problem is Reason.FROM_METADATA
    draft = {"claims": [{"text": "x", "chunk_id": "c", "quote": "the kiln failed in May"}]}
    asked = verify(draft, chunks, question="Is it true that the kiln failed in May?", checks=())
    assert asked.claims[0].reason is Reason.FROM_QUESTION


@pytest.mark.parametrize(
    ("text", "quote", "claim", "short"),
    [
        (
            "The Tenant pays. The Tenant leaves.",
            "The Tenant",
            "The Tenant must pay a deposit.",
            True,
        ),
        ("The pump is red.", "pump", "The casing is dust-tight.", True),
        ("It is in force.", "It is in", "The rule is in force.", True),
        ("The period is 30 days.", "30", "The notice period is 30 days.", True),
        ("定員は24名です。", "です", "定員は24名です。", True),
        ("The period is two years.", "two years", "It lasts two years.", False),
        ("Doors open at 18:00.", "18:00", "At 18:00.", False),
        ("定員は24名です。", "定員は24名", "定員は24名です。", False),
        ("退款期限为十日。", "期限为十日", "退款期限为十日。", False),
        ("The pump casing is rated IP67.", "casing is rated IP67", "The casing is IP67.", False),
    ],
)
def test_too_little_is_judged_by_what_the_quote_carries(text, quote, claim, short):
    found = check([chunk("c", text)], "c", quote, claim=claim)
    assert found.located is not None
    assert (found.problem is Reason.QUOTE_TOO_SHORT) is short


def test_a_near_miss_names_the_nearest_sentence_and_the_words_that_differ():
    text = "Smoke outside. The landlord does not accept pets heavier than 15 kg. Cats are fine."
    found = check([chunk("c", text)], "c", "The landlord does now accept pets heavier than 15 kg.")
    assert found.problem is Reason.NEAR_MISS
    assert found.nearest == "The landlord does not accept pets heavier than 15 kg."
    assert '"now"' in found.detail
    assert '"not"' in found.detail


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("A photo on a telephone is not enough.", "A photo on a telephone is.", False),
        ("Das Konto ist nicht kostenlos.", "Das Konto ist.", False),
        ("The lift stops at once and the doors open.", "The lift stops at once.", True),
    ],
)
def test_a_final_full_stop_never_hides_a_denial(text, quote, found):
    draft = {"claims": [{"text": quote, "chunk_id": "c", "quote": quote}]}
    verdict = verify(draft, [{"id": "c", "text": text}], checks=()).claims[0]
    assert bool(verdict.located) is found


def test_places_of_a_quote_do_not_overlap():
    text = "We say it again and again and again to all who ask."
    located = check([chunk("c", text)], "c", "again and again").located
    assert len(located.occurrences) == 1
    assert not located.ambiguous


def test_a_label_is_not_mended_to_the_heading_of_another_chunk():
    heading = "Opening hours of the reading room"
    chunks = [chunk("a", "The kiln is hot."), chunk("b", f"# {heading}\n\nSee below.")]
    found = check(chunks, "a", heading)
    assert found.located is None
    assert found.problem is Reason.WRONG_CHUNK


def test_a_quote_that_stands_whole_in_another_chunk_is_not_called_cut():
    chunks = [chunk("a", "The rate is 55 now."), chunk("b", "The rate is 5 now.")]
    found = check(chunks, "a", "The rate is 5")
    assert found.problem is Reason.WRONG_CHUNK
    assert found.found_in == ("b",)
