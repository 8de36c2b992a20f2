"""Claude's own citations, over the real SDK: pointers become quotes, and the verifier decides."""

import anyio
import pytest
from anthropic.types import (
    CitationCharLocation,
    CitationContentBlockLocation,
    CitationsSearchResultLocation,
)
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag import CitationsGenerator, GroundedRAG
from grounded_rag.errors import MissingKeyError, ProviderUnavailableError
from grounded_rag.generate.citations_api import SentDocument, draft_of
from grounded_rag.protocols import FailedClaim, Generator, Reask
from grounded_rag.testing import StaticRetriever, assert_grounded
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import Claim, Outcome, Reason, RefusalReason, StopReason
from grounded_rag.verification import verify

TEXT = "The fee is 5 euros. It is due on the first day."
OTHER = "Dogs are not allowed."
QUESTION = "What is the fee?"


def block(start, end=None, document=0, cited=None, text=TEXT):
    spans = split_sentences(text)[start : end or start + 1]
    return CitationContentBlockLocation(
        type="content_block_location",
        cited_text="".join(span.of(text) for span in spans) if cited is None else cited,
        document_index=document,
        document_title=None,
        start_block_index=start,
        end_block_index=end or start + 1,
    ).model_dump()


def piece(text, *citations):
    return {"type": "text", "text": text, "citations": list(citations) or None}


@pytest.fixture
def answering(script, ask):
    """Runs a generator against scripted content and returns draft, request and provider."""

    def run(*replies, chunks=(TEXT, OTHER), request=None, **options):
        made = [
            reply if callable(reply) else (lambda _, r=reply: script.message(r[0], r[1]))
            for reply in replies
        ]
        provider = script.provider(*made)
        request = request or ask(QUESTION, *chunks)
        generator = CitationsGenerator(client=provider.client(), **options)
        return anyio.run(generator.generate, request), request, provider

    return run


def test_a_pointer_becomes_the_quote_and_the_same_verifier_decides(answering):
    content = [piece("The fee is 5 euros.", block(0))]
    generation, request, provider = answering((content, "end_turn"))
    claim = generation.draft.claims[0]
    assert (claim.text, claim.quote) == ("The fee is 5 euros.", "The fee is 5 euros.")
    assert claim.chunk_id == request.chunks[0].chunk.id
    assert verify(generation.draft, request.chunks).outcome is Outcome.ACCEPTED
    sent = provider.bodies[0]["messages"][0]["content"]
    assert [entry["type"] for entry in sent] == ["document", "document", "text"]
    assert sent[0]["citations"] == {"enabled": True}
    assert [b["text"] for b in sent[0]["source"]["content"]] == [
        "The fee is 5 euros.",
        "It is due on the first day.",
    ]
    assert "tools" not in provider.bodies[0]
    assert "temperature" not in provider.bodies[0]


def test_half_a_character_costs_its_own_claim_alone():
    documents = [SentDocument(chunk_id="c1", text=TEXT, blocks=split_sentences(TEXT))]
    content = [
        piece("The fee is 5 euros.", block(0)),
        piece(" It is \ud800due on day 3.", block(1)),
    ]
    draft = draft_of(content, documents)
    found = verify(draft, [{"id": "c1", "text": TEXT}])
    assert [verdict.supported for verdict in found.claims] == [True, False]


def test_white_space_without_end_in_an_open_part_is_read_in_one_go():
    gap = " " * 300_000
    draft = draft_of([piece(f"UNANSWERED: a{gap}b \t\n UNANSWERED:  \n")], [])
    assert draft.unanswered == (f"a{gap}b",)


def test_a_true_pointer_is_not_yet_support(answering):
    content = [piece("The fee is 9 euros.", block(0))]
    generation, request, _ = answering((content, "end_turn"))
    verdict = verify(generation.draft, request.chunks).claims[0]
    assert verdict.located
    assert not verdict.supported


def test_sentences_without_a_citation_are_uncited_claims(answering):
    content = [
        piece("Here is what I found. "),
        piece("The fee is 5 euros.", block(0)),
        piece(" Have a nice day."),
    ]
    generation, request, _ = answering((content, "end_turn"))
    texts = [claim.text for claim in generation.draft.claims]
    assert texts == ["Here is what I found.", "The fee is 5 euros.", "Have a nice day."]
    result = verify(generation.draft, request.chunks)
    assert [v.reason for v in result.claims] == [Reason.UNCITED, None, Reason.UNCITED]


def test_a_sentence_in_pieces_is_one_claim_with_all_its_pointers(answering):
    content = [
        piece("The fee is "),
        piece("5 euros", block(0)),
        piece(", due on the "),
        piece("first day", block(1)),
        piece("."),
    ]
    generation, *_ = answering((content, "end_turn"))
    (claim,) = generation.draft.claims
    assert claim.text == "The fee is 5 euros, due on the first day."
    assert [c.quote for c in claim.citations] == [
        "The fee is 5 euros.",
        "It is due on the first day.",
    ]


def test_a_full_stop_lends_its_pointer_to_no_sentence(answering):
    content = [piece("Parking is free"), piece(". The fee is 5 euros.", block(0))]
    generation, *_ = answering((content, "end_turn"))
    assert [len(claim.citations) for claim in generation.draft.claims] == [0, 1]


def test_a_range_of_blocks_is_a_quote_for_each(answering):
    generation, *_ = answering(([piece("It costs.", block(0, 2))], "end_turn"))
    assert len(generation.draft.claims[0].citations) == 2


@pytest.mark.parametrize(
    "pointer",
    [
        block(0, document=7, cited="The fee is 5 euros."),
        block(0, document=-1, cited="The fee is 5 euros."),
        {**block(0), "start_block_index": 5, "end_block_index": 6, "cited_text": "Free of charge."},
        {**block(0), "start_block_index": -1, "cited_text": "Free of charge."},
        {**block(0), "cited_text": "Free of charge."},
        {"type": "page_location", "document_index": 0, "cited_text": "Free of charge."},
        {"type": "something_new", "cited_text": "Free of charge."},
        {},
    ],
)
def test_a_pointer_to_nothing_supports_nothing(ask, pointer):
    request = ask(QUESTION, TEXT, OTHER)
    sent = [
        SentDocument(chunk_id=c.chunk.id, text=c.chunk.text, blocks=split_sentences(c.chunk.text))
        for c in request.chunks
    ]
    draft = draft_of([piece("The fee is 5 euros.", pointer)], sent)
    assert not verify(draft, request.chunks).claims[0].supported


def test_search_results_and_plain_text_point_in_their_own_ways(answering, ask):
    found = CitationsSearchResultLocation(
        type="search_result_location",
        cited_text="The fee is 5 euros.",
        search_result_index=0,
        source="x",
        title="x",
        start_block_index=0,
        end_block_index=1,
    ).model_dump()
    content = [piece("The fee is 5 euros.", found)]
    generation, _, provider = answering((content, "end_turn"), blocks="search_result")
    assert generation.draft.claims[0].quote == "The fee is 5 euros."
    assert provider.bodies[0]["messages"][0]["content"][0]["type"] == "search_result"
    at = CitationCharLocation(
        type="char_location",
        cited_text="The fee is 5 euros. ",
        document_index=0,
        start_char_index=0,
        end_char_index=20,
    ).model_dump()
    content = [piece("The fee is 5 euros.", at)]
    generation, _, provider = answering((content, "end_turn"), blocks="text")
    assert generation.draft.claims[0].quote == "The fee is 5 euros."
    assert provider.bodies[0]["messages"][0]["content"][0]["source"]["data"] == TEXT


def test_the_refusal_is_prose_and_open_parts_are_named(answering, ask):
    request = ask(QUESTION, TEXT)
    generation, *_ = answering(([piece(request.refusal)], "end_turn"), request=request)
    assert generation.draft.claims == ()
    result = verify(generation.draft, request.chunks, refusal=request.refusal)
    assert result.outcome is Outcome.REFUSED
    content = [piece("The fee is 5 euros.", block(0)), piece("\nUNANSWERED: the fee\n")]
    generation, *_ = answering((content, "end_turn"))
    assert generation.draft.unanswered == ("the fee",)
    assert [claim.text for claim in generation.draft.claims] == ["The fee is 5 euros."]


def test_a_cut_output_is_tried_once_more_and_never_read(answering):
    content = [piece("The fee is 5 euros.", block(0))]
    generation, _, provider = answering((content, "max_tokens"), (content, "max_tokens"))
    assert generation.draft is None
    assert generation.stop is StopReason.TRUNCATED
    limits = [body["max_tokens"] for body in provider.bodies]
    assert limits[1] == 2 * limits[0]
    assert generation.usage.calls == 2


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("refusal", StopReason.REFUSED),
        ("model_context_window_exceeded", StopReason.TRUNCATED),
        ("pause_turn", StopReason.INVALID),
    ],
)
def test_other_endings_are_never_an_answer(answering, word, stop):
    content = [piece("The fee is 5 euros.", block(0))]
    generation, _, provider = answering((content, word))
    assert (generation.draft, generation.stop) == (None, stop)
    assert len(provider.bodies) == 1


def test_an_overload_is_an_error_and_never_an_answer(answering, script):
    with pytest.raises(ProviderUnavailableError):
        answering(script.failure(529, "overloaded_error", "Overloaded"))


def test_a_blocking_client_works_too(script, ask):
    content = [piece("The fee is 5 euros.", block(0))]
    provider = script.provider(lambda _: script.message(content, "end_turn"))
    generator = CitationsGenerator(client=provider.blocking_client())
    generation = anyio.run(generator.generate, ask(QUESTION, TEXT))
    assert generation.draft.claims[0].quote == "The fee is 5 euros."


def test_a_missing_key_is_told_before_anything_is_sent(ask, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    generator = CitationsGenerator()
    assert isinstance(generator, Generator)
    with pytest.raises(MissingKeyError):
        anyio.run(generator.generate, ask(QUESTION, TEXT))


def test_what_to_mend_and_the_dates_are_told(answering, ask):
    failed = FailedClaim(claim=Claim(text="It is free."), reason=Reason.UNCITED, detail="No cite.")
    request = ask(QUESTION, TEXT).model_copy(update={"reask": Reask(failed=(failed,))})
    content = [piece("The fee is 5 euros.", block(0))]
    _, _, provider = answering((content, "end_turn"), request=request)
    assert "It is free." in provider.bodies[0]["messages"][0]["content"][-1]["text"]


def test_the_budget_leaves_out_the_lowest_ranked(answering):
    content = [piece("The fee is 5 euros.", block(0))]
    long = "Words that fill the window of the model. " * 400
    _, _, provider = answering((content, "end_turn"), chunks=(TEXT, long), max_input_tokens=5_000)
    sent = provider.bodies[0]["messages"][0]["content"]
    assert [entry["type"] for entry in sent] == ["document", "text"]


def test_one_oversized_passage_does_not_push_out_the_others(answering):
    content = [piece("The fee is 5 euros.", block(0))]
    long = "Words that fill the window of the model. " * 1_000
    generation, request, provider = answering(
        (content, "end_turn"), chunks=(long, TEXT), max_input_tokens=5_000
    )
    sent = provider.bodies[0]["messages"][0]["content"]
    assert [entry["type"] for entry in sent] == ["document", "text"]
    # The provider counts what it was sent: the place of a pointer is not the chunk's rank.
    assert generation.draft.claims[0].chunk_id == request.chunks[1].chunk.id


def test_the_whole_pipeline_by_name(script, monkeypatch):
    from grounded_rag.options import make_generator, prompt_kind, prompt_set

    named = make_generator(
        "anthropic-citations/claude-x", prompts=prompt_set(None, kind="citations")
    )
    assert isinstance(named, CitationsGenerator)
    assert prompt_kind({"generator": "anthropic-citations"}) == "citations"
    provider = script.provider(
        lambda _: script.message([piece("The fee is 5 euros. "), piece("Pay it!")], "end_turn"),
        lambda _: script.message([piece("The fee is 5 euros.", block(0))], "end_turn"),
    )
    generator = CitationsGenerator(client=provider.client())
    with GroundedRAG(StaticRetriever({"fees": TEXT}), generator=generator) as rag:
        answer = rag.query(QUESTION)
    assert_grounded(answer)
    assert answer.text == "The fee is 5 euros. [1]"
    assert answer.attempts == 2


def test_a_refusal_in_its_own_words_reaches_the_reader_as_ours(script):
    said = lambda _: script.message([piece("I could not find that.")], "end_turn")  # noqa: E731
    provider = script.provider(said, said, said)
    generator = CitationsGenerator(client=provider.client())
    with GroundedRAG(StaticRetriever({"fees": TEXT}), generator=generator) as rag:
        answer = rag.query(QUESTION)
    assert answer.refusal.reason in (
        RefusalReason.GENERATOR_DECLINED,
        RefusalReason.CLAIMS_FAILED,
    )
    assert "could not find" not in answer.to_json()


@given(
    st.lists(
        st.tuples(
            st.text(max_size=30) | st.just("The fee is 5 euros. "),
            st.lists(
                st.fixed_dictionaries(
                    {
                        "type": st.sampled_from(["content_block_location", "char_location", "x"]),
                        "document_index": st.integers(-1, 3) | st.none(),
                        "start_block_index": st.integers(-1, 4) | st.none(),
                        "end_block_index": st.integers(-1, 4),
                        "start_char_index": st.integers(-1, 60),
                        "end_char_index": st.integers(-1, 60),
                        "cited_text": st.text(max_size=10) | st.just(""),
                    }
                ),
                max_size=2,
            ),
        ),
        max_size=4,
    )
)
def test_any_response_is_read_and_no_uncited_text_is_lost(ask_any, pieces):
    request = ask_any(QUESTION, TEXT, OTHER)
    sent = [
        SentDocument(chunk_id=c.chunk.id, text=c.chunk.text, blocks=split_sentences(c.chunk.text))
        for c in request.chunks
    ]
    draft = draft_of([piece(text, *pointers) for text, pointers in pieces], sent)
    written = "".join(text for text, _ in pieces)
    shown = "".join([*(claim.text for claim in draft.claims), draft.prose])
    if "UNANSWERED" not in written:
        assert "".join(shown.split()) == "".join(written.split())
    for verdict in verify(draft, request.chunks).supported:
        assert verdict.located


def test_a_document_is_shown_without_hyphens_and_quoted_with_them(answering):
    text = "The fee is re-\nturned. It is 5 euros."
    shown = "The fee is returned."
    reply = ([piece(shown, block(0, cited=shown, text=text))], "end_turn")
    generation, _, provider = answering(reply, chunks=(text,))
    sent = provider.bodies[0]["messages"][0]["content"][0]["source"]["content"]
    assert sent[0]["text"] == shown
    assert generation.draft.claims[0].quote == "The fee is re-\nturned."
