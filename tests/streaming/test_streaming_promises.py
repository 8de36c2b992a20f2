"""Whatever a generator streams: what was told is what is answered, and `query` says the same."""

import gc
import json
import threading

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from strategies import any_text, claims

from grounded_rag import GroundedRAG, Policy
from grounded_rag.errors import ProviderError
from grounded_rag.events import Event
from grounded_rag.generate.reading import EntryScanner
from grounded_rag.pipeline import Parts, answer_question
from grounded_rag.protocols import Generation, StartedOver, StreamingGenerator
from grounded_rag.resources import default_refusal
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, assert_grounded, make_draft
from grounded_rag.types import AnswerStatus, Draft, Reason, RefusalReason, StopReason, Validity
from grounded_rag.validity import parse_instant
from grounded_rag.verification.rules import Rules

TEXT = "The museum opens at 10:00 every day. A ticket costs 12 euros."
OPENS = ("The museum opens at 10:00 every day.", "c1", "The museum opens at 10:00 every day.")
TICKET = ("A ticket costs 12 euros.", "c1", "A ticket costs 12 euros.")
INVENTED = ("A ticket costs 8 euros.", "c1", "A ticket costs 8 euros.")


DOGS = ("Dogs are not allowed in the museum.", "c2", "Dogs are not allowed in the museum.")

EARLY = ("Visitors come in from ten in the morning.", "c1", OPENS[2])

# Mostly honest claims, so that many pass; the same ones again and again, so that drafts overlap.
honest = st.sampled_from([OPENS, TICKET, DOGS, EARLY]).map(lambda one: make_draft(one).claims[0])
drafts = st.builds(
    Draft,
    claims=st.lists(honest | honest | honest | claims(), max_size=4).map(tuple),
    unanswered=st.lists(any_text | st.just("a ticket"), max_size=1).map(tuple),
    prose=st.sampled_from(["", "", "It is the best of all houses.", OPENS[0]]),
)


class Streaming(ScriptedGenerator):
    """Plays the same script claim by claim; some drafts are begun, thrown away and begun again."""

    def __init__(self, *script, false_starts=()):
        super().__init__(*script)
        self.false_starts = list(false_starts)

    async def stream(self, request):
        for start in self.false_starts:
            for claim in start.claims:
                yield claim
            yield StartedOver()
        generation = await self.generate(request)
        for claim in generation.draft.claims if generation.draft else ():
            yield claim
        yield generation


def parts(generator, policy, chunks=None):
    return Parts(
        retriever=StaticRetriever(
            chunks or {"c1": TEXT, "c2": "Dogs are not allowed in the museum."}
        ),
        generator=generator,
        policy=policy,
        rules=Rules.of(policy),
        refusal=default_refusal(),
    )


def run(made, question="What is a ticket?", live=True, **more):
    events = []

    async def ask():
        return await answer_question(
            question,
            parts=made,
            as_of=parse_instant("2026-11-29"),
            listener=events.append if live else None,
            **more,
        )

    return anyio.run(ask), events


def shown(events):
    return [event.verdict.claim for event in events if event.kind == "claim_verified"]


def untimed(answer):
    return json.loads(answer.to_json(trace=True), parse_float=lambda _: 0.0)


policies = st.builds(
    Policy,
    on_failed_claim=st.sampled_from(["refuse", "drop"]),
    support=st.sampled_from(["strict", "spans-only"]),
    unproven=st.sampled_from(["restate", "reask", "refuse"]),
    stale=st.sampled_from(["flag", "refuse"]),
    max_attempts=st.just(3),
)


@settings(deadline=None)
@given(st.lists(drafts, min_size=3, max_size=3), policies)
@example(
    [make_draft(OPENS).model_copy(update={"unanswered": ('"',)}), Draft(), Draft()],
    Policy(on_failed_claim="drop"),
)
def test_a_stream_ends_in_the_answer_of_query_and_takes_nothing_back(script, policy):
    streamed, events = run(parts(Streaming(*script), policy))
    asked, _ = run(parts(ScriptedGenerator(*script), policy), live=False)
    assert_grounded(streamed, existence_only=policy.support == "spans-only")
    assert untimed(streamed) == untimed(asked)
    told = shown(events)
    assert len(told) == len(set(told))
    assert set(told) == {verdict.claim for verdict in streamed.claims}


stops = st.sampled_from(list(StopReason))


@settings(deadline=None)
@given(
    st.lists(st.tuples(drafts, stops), min_size=3, max_size=3),
    st.lists(drafts, max_size=2),
    policies,
)
def test_cut_streams_and_false_starts_take_nothing_back_either(script, starts, policy):
    generations = [Generation(draft=draft, stop=stop) for draft, stop in script]
    answer, events = run(parts(Streaming(*generations, false_starts=starts), policy))
    assert_grounded(answer, existence_only=policy.support == "spans-only")
    assert set(shown(events)) == {verdict.claim for verdict in answer.claims}
    if policy.on_failed_claim == "refuse":
        asked, _ = run(parts(ScriptedGenerator(*generations), policy), live=False)
        assert untimed(answer) == untimed(asked)


@settings(deadline=None)
@given(st.lists(drafts, min_size=3, max_size=3), policies)
def test_no_event_carries_rejected_text_unless_it_is_asked_for(script, policy):
    _, events = run(parts(Streaming(*script), policy))
    assert all(event.verdict is None for event in events if event.kind == "claim_rejected")


@pytest.mark.parametrize("policy", ["refuse", "drop"])
def test_a_generator_that_cannot_stream_gives_all_claims_at_once(policy):
    generator = ScriptedGenerator(make_draft(OPENS, INVENTED), make_draft(TICKET))
    assert not isinstance(generator, StreamingGenerator)
    answer, events = run(parts(generator, Policy(on_failed_claim=policy)))
    assert [event.kind for event in events] == [
        "retrieved",
        "drafting",
        "claim_rejected",
        "re_asked",
        "drafting",
        "claim_verified",
        "claim_verified",
    ]
    assert answer.status is AnswerStatus.ANSWERED


@pytest.mark.parametrize("policy", ["refuse", "drop"])
def test_a_restatement_streams_like_any_claim_and_once(policy):
    draft = make_draft(EARLY, OPENS, TICKET)
    answer, events = run(parts(Streaming(draft), Policy(on_failed_claim=policy)))
    assert [claim.text for claim in shown(events)] == [OPENS[0], TICKET[0]]
    marks = [event.verdict.restated for event in events if event.kind == "claim_verified"]
    assert marks == [True, False] == [verdict.restated for verdict in answer.claims]
    assert EARLY[0] not in answer.to_json()


def test_a_claim_of_which_nothing_ships_tells_why():
    asked = make_draft(("Entry is free.", "c1", "What does a ticket cost?"))
    chunks = {"c1": "What does a ticket cost? It depends on the day that you come."}
    policy = Policy(max_attempts=1)
    _, events = run(parts(Streaming(asked), policy, chunks))
    assert [e.reason for e in events if e.kind == "claim_rejected"] == [Reason.NOT_ASSERTED]


@pytest.mark.parametrize("unproven", ["reask", "refuse"])
def test_no_restatement_streams_where_the_policy_wants_none(unproven):
    policy = Policy(unproven=unproven, on_failed_claim="drop")
    draft = make_draft(EARLY, TICKET)
    answer, events = run(parts(Streaming(draft, draft, draft), policy))
    assert [claim.text for claim in shown(events)] == [TICKET[0]]
    assert (answer.status, answer.dropped) == (AnswerStatus.ANSWERED, 1)


def test_a_shown_claim_stays_where_the_time_runs_out():
    class Endless(Streaming):
        async def stream(self, request):
            yield make_draft(OPENS).claims[0]
            await anyio.sleep_forever()

    policy = Policy(on_failed_claim="drop", max_seconds=0.3)
    answer, events = run(parts(Endless(), policy))
    assert [claim.text for claim in shown(events)] == [OPENS[0]]
    assert answer.status is AnswerStatus.PARTIAL
    assert [verdict.text for verdict in answer.claims] == [OPENS[0]]
    answer, events = run(parts(Endless(), Policy(max_seconds=0.3)))
    assert shown(events) == []
    assert answer.refusal.reason is RefusalReason.BUDGET_EXHAUSTED


HALF = ("A ticket \ud800 costs.", "c1", "A ticket costs 12 euros.")


@pytest.mark.parametrize("policy", ["refuse", "drop"])
def test_a_claim_with_half_a_character_makes_the_draft_unreadable_and_takes_nothing_back(policy):
    script = [make_draft(HALF), make_draft(OPENS, HALF), make_draft(HALF, TICKET)]
    answer, events = run(parts(Streaming(*script), Policy(on_failed_claim=policy)))
    assert set(shown(events)) == {verdict.claim for verdict in answer.claims}
    if policy == "refuse":
        assert answer.refusal.reason is RefusalReason.INVALID_OUTPUT
    else:
        assert answer.status is AnswerStatus.PARTIAL
        assert {verdict.text for verdict in answer.claims} == {OPENS[0], TICKET[0]}


@pytest.mark.parametrize("policy", ["refuse", "drop"])
def test_a_refusal_beside_claims_is_never_a_whole_answer(policy):
    both = make_draft(OPENS).model_copy(update={"prose": default_refusal()})
    answer, events = run(parts(Streaming(both, both, both), Policy(on_failed_claim=policy)))
    assert set(shown(events)) == {verdict.claim for verdict in answer.claims}
    assert answer.status is not AnswerStatus.ANSWERED


def test_a_stream_that_just_stops_is_no_complete_draft():
    class Mute(Streaming):
        async def stream(self, request):
            yield make_draft(OPENS).claims[0]

    answer, _ = run(parts(Mute(), Policy()))
    assert answer.refusal.reason is RefusalReason.OUTPUT_TRUNCATED


def test_nothing_is_shown_early_that_stale_evidence_may_still_take_back():
    from grounded_rag.testing import make_chunk

    old = Validity(valid_until=parse_instant("2020-01-01"))
    chunks = [
        make_chunk(TEXT, id="c1"),
        make_chunk("Dogs are not allowed.", id="c2", validity=old, rank=2),
    ]
    dogs = ("Dogs are not allowed.", "c2", "Dogs are not allowed.")
    policy = Policy(on_failed_claim="drop", stale="refuse")
    answer, events = run(parts(Streaming(make_draft(OPENS, dogs)), policy, chunks))
    assert answer.refusal.reason is RefusalReason.STALE_EVIDENCE
    assert shown(events) == []


def test_stale_evidence_is_refused_also_where_the_time_runs_out():
    from grounded_rag.testing import make_chunk

    class Slow(ScriptedGenerator):
        async def generate(self, request):
            if request.reask is not None:
                await anyio.sleep_forever()
            return await super().generate(request)

    old = Validity(valid_until=parse_instant("2020-01-01"))
    policy = Policy(on_failed_claim="drop", stale="refuse", max_seconds=0.3)
    chunks = [make_chunk(TEXT, id="c1", validity=old)]
    answer, _ = run(parts(Slow(make_draft(OPENS, INVENTED)), policy, chunks))
    assert answer.refusal.reason is RefusalReason.STALE_EVIDENCE


def test_events_are_read_back_from_their_json():
    _, events = run(parts(Streaming(make_draft(OPENS)), Policy()))
    adapter = TypeAdapter(Event)
    assert [adapter.validate_json(event.model_dump_json()) for event in events] == events


def test_closing_in_the_middle_of_a_stream_leaves_no_thread():
    before = threading.active_count()
    rag = GroundedRAG(StaticRetriever({"c1": TEXT}), generator=Streaming(make_draft(OPENS)))
    stream = rag.stream("When does the museum open?")
    assert next(stream).kind == "retrieved"
    rag.close()
    stream.close()
    assert threading.active_count() == before


def test_a_refusal_tells_no_claim():
    answer, events = run(parts(Streaming(Draft()), Policy()))
    assert [event.kind for event in events] == ["retrieved", "drafting"]
    assert answer.refusal.reason is RefusalReason.GENERATOR_DECLINED


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.lists(json_values, max_size=4),
    st.dictionaries(st.text(max_size=8) | st.sampled_from(["x", "claim"]), json_values, max_size=3),
    st.booleans(),
    st.data(),
)
def test_entries_are_found_in_whatever_pieces_they_come(entries, others, ascii_only, data):
    others.pop("claims", None)
    items = data.draw(st.permutations([*others.items(), ("claims", entries)]))
    text = json.dumps(
        dict(items), ensure_ascii=ascii_only, indent=data.draw(st.sampled_from([None, 1]))
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    scanner = EntryScanner("claims")
    found = []
    for begin, stop in zip([0, *cuts], [*cuts, len(text)], strict=True):
        before = len(found)
        found.extend(scanner.feed(text[begin:stop]))
        # An entry counts only when all of it has arrived.
        assert found == entries[: len(found)]
        assert len(found) >= before
    assert found == entries


def test_leaving_a_stream_that_has_failed_already_logs_nothing(caplog):
    failed = threading.Event()

    class Failing:
        async def generate(self, request):
            failed.set()
            raise ProviderError("out of order")

    with GroundedRAG(StaticRetriever({"c1": TEXT}), generator=Failing()) as rag:
        events = rag.stream("What is a ticket?")
        next(events)
        assert failed.wait(10)
        rag.loop.run(lambda: anyio.sleep(0))
        events.close()
        del events
        gc.collect()
    assert "never retrieved" not in caplog.text
