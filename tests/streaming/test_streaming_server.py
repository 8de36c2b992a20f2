"""Streams of a real SDK client over a loopback server, with pauses, cuts, refusals and overload."""

import json
from dataclasses import replace

import anyio
import pytest
from sse_server import BREAK, WAIT, Gate, claim, end, overload, piece, start

from grounded_rag.errors import ProviderUnavailableError
from grounded_rag.testing import assert_grounded
from grounded_rag.types import AnswerStatus, RefusalReason
from grounded_rag.verification.support import default_checks

OPENS = "The museum opens at 10:00 every day."
TICKET = "A ticket costs 12 euros."
DOGS = "Dogs are not allowed in the museum."
FALSE = "A ticket costs 8 euros."
QUESTION = "When does the museum open, and what is a ticket?"
TAIL = '], "unanswered": []}'


def good(labels):
    """Two true claims, each in several pieces."""
    first, second = claim(OPENS, labels[0]), claim(TICKET, labels[0])
    return [
        *start(),
        *map(piece, ('{"cla', 'ims": [', first[:20], first[20:], ", ", second[:-1], "}", TAIL)),
        *end(),
    ]


def kinds(events):
    return [event.kind for event in events]


def shown(events):
    return [event.verdict.text for event in events if event.kind == "claim_verified"]


def collect(stream, events):
    for event in stream:
        events.append(event)


def comparable(answer):
    return json.loads(answer.to_json(trace=True), parse_float=lambda _: 0.0)


def test_under_drop_a_claim_leaves_while_the_next_one_is_still_being_written(serve):
    gate = Gate()

    def script(labels):
        first = claim(OPENS, labels[0])
        return [
            *start(),
            piece('{"claims": [' + first + ', {"text": "A tick'),
            gate,
            piece(
                'et costs 12 euros.", "citations": ' + json.dumps(cited(labels[0], TICKET)) + "}"
            ),
            piece(TAIL),
            *end(),
        ]

    _, rag = serve(script)
    events = []
    for event in rag.stream(QUESTION):
        events.append(event)
        if event.kind == "claim_verified":
            gate.open()
    # The gate was opened by the first claim: the server had not sent the second by then.
    assert shown(events) == [OPENS, TICKET]
    assert events[-1].answer.text == f"{OPENS} [1] {TICKET} [2]"
    assert kinds(events)[0] == "retrieved"


def cited(label, quote):
    return [{"chunk_id": label, "quote": quote}]


def test_under_refuse_claims_are_held_until_all_have_passed(serve):
    gate = Gate()

    def script(labels):
        return [
            *start(),
            piece('{"claims": [' + claim(OPENS, labels[0]) + ","),
            gate,
            piece(claim(TICKET, labels[0]) + TAIL),
            *end(),
        ]

    _, rag = serve(script, policy="refuse")
    before, after = [], []
    for event in rag.stream(QUESTION):
        (after if gate.opened.is_set() else before).append(event)
        if event.kind == "drafting" and event.drafted == 1:
            gate.open()
    assert "claim_verified" not in kinds(before)
    assert kinds(after) == ["drafting", "claim_verified", "claim_verified", "final"]
    assert shown(after) == [OPENS, TICKET]


@pytest.mark.parametrize("policy", ["refuse", "drop"])
def test_the_last_event_is_the_answer_that_query_gives_for_the_same_drafts(serve, policy):
    def bad(labels):
        items = f"{claim(OPENS, labels[0])}, {claim(FALSE, labels[0])}"
        return [*start(), piece('{"claims": [' + items + TAIL), *end()]

    def mended(labels):
        return [*start(), piece('{"claims": [' + claim(DOGS, labels[1]) + TAIL), *end()]

    for scripts in ([good], [bad, mended], [bad, bad, bad]):
        _, rag = serve(*scripts, *scripts, policy=policy)
        events = list(rag.stream(QUESTION, as_of="2026-11-29"))
        asked = rag.query(QUESTION, as_of="2026-11-29")
        assert_grounded(asked)
        assert comparable(events[-1].answer) == comparable(asked)
        assert sorted(shown(events)) == sorted(c.text for c in asked.claims)


def test_what_failed_is_asked_again_at_the_end_and_its_text_stays_away(serve):
    def bad(labels):
        items = f"{claim(FALSE, labels[0])}, {claim(OPENS, labels[0])}"
        return [*start(), piece('{"claims": [' + items + TAIL), *end()]

    def mended(labels):
        return [*start(), piece('{"claims": [' + claim(TICKET, labels[0]) + TAIL), *end()]

    server, rag = serve(bad, mended, bad, mended)
    events = list(rag.stream(QUESTION))
    assert kinds(events) == [
        "retrieved",
        "drafting",
        "drafting",
        "claim_rejected",
        "drafting",
        "claim_verified",
        "re_asked",
        "drafting",
        "drafting",
        "claim_verified",
        "final",
    ]
    assert shown(events) == [OPENS, TICKET]
    # What was shown stays, and takes its place in reading order.
    assert events[-1].answer.text == f"{TICKET} [1] {OPENS} [2]"
    assert not any(FALSE in event.model_dump_json() for event in events)
    assert FALSE in json.dumps(server.bodies[1])
    told = list(rag.stream(QUESTION, rejected_text=True))
    assert [e.verdict.text for e in told if e.kind == "claim_rejected"] == [FALSE]


def broken(*last):
    def script(labels):
        items = f"{claim(OPENS, labels[0])}, " + claim(TICKET, labels[0])[:30]
        return [*start(), piece('{"claims": [' + items), *last]

    return script


@pytest.mark.parametrize("policy", ["refuse", "drop"])
@pytest.mark.parametrize(
    "last", [(BREAK,), (), overload()], ids=["connection lost", "no end", "overload"]
)
def test_a_stream_that_breaks_off_is_an_error_and_never_an_answer(serve, policy, last):
    server, rag = serve(broken(*last), policy=policy)
    events = []
    with pytest.raises(ProviderUnavailableError):
        collect(rag.stream(QUESTION), events)
    assert "final" not in kinds(events)
    assert len(server.bodies) == 1
    assert shown(events) == ([OPENS] if policy == "drop" else [])


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_whole_draft_without_the_end_of_its_stream_is_no_answer(serve, missing):
    server, rag = serve(lambda labels: good(labels)[:-missing], policy="refuse")
    events = []
    with pytest.raises(ProviderUnavailableError):
        collect(rag.stream(QUESTION), events)
    assert shown(events) == []
    assert len(server.bodies) == 1


def test_a_cut_output_is_tried_once_more_with_twice_the_limit(serve):
    server, rag = serve(broken(*end("max_tokens")), good)
    events = list(rag.stream(QUESTION))
    assert shown(events) == [OPENS, TICKET]
    assert events[-1].answer.status is AnswerStatus.ANSWERED
    assert events[-1].answer.usage.output_tokens == 40
    assert [body["max_tokens"] for body in server.bodies] == [2_048, 4_096]


@pytest.mark.parametrize(
    ("stop", "reason", "calls"),
    [
        ("max_tokens", RefusalReason.OUTPUT_TRUNCATED, 2),
        ("refusal", RefusalReason.MODEL_REFUSED, 1),
        ("model_context_window_exceeded", RefusalReason.OUTPUT_TRUNCATED, 1),
    ],
)
def test_a_draft_without_its_end_is_refused_or_stays_a_part(serve, stop, reason, calls):
    scripts = [broken(*end(stop))] * calls
    server, rag = serve(*scripts, policy="refuse")
    events = list(rag.stream(QUESTION))
    assert shown(events) == []
    assert events[-1].answer.refusal.reason is reason
    assert len(server.bodies) == calls
    _, rag = serve(*scripts, policy="drop")
    events = list(rag.stream(QUESTION))
    # It was shown, so it stays; that something is missing is said.
    assert shown(events) == [OPENS]
    assert events[-1].answer.status is AnswerStatus.PARTIAL
    assert [c.text for c in events[-1].answer.claims] == [OPENS]


def test_the_stop_reason_counts_also_where_the_json_is_whole(serve):
    def script(labels):
        return [*start(), piece('{"claims": [' + claim(OPENS, labels[0]) + TAIL), *end("refusal")]

    _, rag = serve(script, policy="refuse")
    assert list(rag.stream(QUESTION))[-1].answer.refusal.reason is RefusalReason.MODEL_REFUSED


def test_odd_shapes_are_read_as_without_a_stream(serve):
    def as_string(labels):
        body = {"claims": "[" + claim(OPENS, labels[0]) + "]", "unanswered": []}
        return [*start(), piece(json.dumps(body)), *end()]

    def surrogate(labels):
        odd = claim("broken", labels[0]).replace("broken", "x\\ud800y")
        items = f"{odd}, {claim(OPENS, labels[0])}"
        return [*start(), piece('{"claims": [' + items + TAIL), *end()]

    def twice(labels):
        first = '{"claims": [' + claim(OPENS, labels[0]) + "], "
        return [*start(), piece(first + '"claims": [' + claim(DOGS, labels[1]) + TAIL), *end()]

    for script, expected in (
        (as_string, {OPENS}),
        (surrogate, {OPENS}),
        (twice, {OPENS, DOGS}),
    ):
        _, rag = serve(script, max_attempts=1)
        events = list(rag.stream(QUESTION))
        assert set(shown(events)) == expected
        assert {c.text for c in events[-1].answer.claims} == expected


def test_the_request_is_the_one_without_a_stream(serve):
    server, rag = serve(good, good)
    list(rag.stream(QUESTION))
    rag.query(QUESTION)
    streamed = dict(server.bodies[0])
    assert streamed.pop("stream") is True
    assert streamed == server.bodies[1]


def test_the_tokens_are_those_that_the_provider_counts(serve):
    _, rag = serve(good)
    usage = list(rag.stream(QUESTION))[-1].answer.usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 100, 20)
    assert usage.cache_read_tokens == 7


def test_who_stops_listening_ends_the_call(serve):
    gate = Gate()

    def script(labels):
        more = [piece(" ")] * 20_000
        return [*start(), piece('{"claims": [' + claim(OPENS, labels[0])), gate, *more]

    server, rag = serve(script)
    stream = rag.stream(QUESTION)
    for event in stream:
        if event.kind == "claim_verified":
            break
    stream.close()
    gate.open()
    assert server.closed_early.wait(WAIT)


def test_the_asynchronous_twin_tells_the_same(serve):
    _, rag = serve(good, good)

    async def gather():
        return [event async for event in rag.astream(QUESTION, as_of="2026-11-29")]

    there = anyio.run(gather)
    here = list(rag.stream(QUESTION, as_of="2026-11-29"))
    assert kinds(there) == kinds(here)
    assert comparable(there[-1].answer) == comparable(here[-1].answer)


def test_the_time_that_checks_take_does_not_count_against_the_provider(serve, monkeypatch):
    passed, now = [0.0], anyio.current_time
    monkeypatch.setattr(anyio, "current_time", lambda: now() + passed[0])

    gate = Gate()

    def slow(case):
        passed[0] += 1_000.0
        gate.open()

    def script(labels):
        first = claim(OPENS, labels[0])
        return [*start(), piece('{"claims": [' + first), gate, piece(TAIL), *end()]

    _, rag = serve(script)
    rules = replace(rag.rules, checks=(*default_checks(), slow))
    rag._parts = replace(rag._parts, rules=rules)
    answer = list(rag.stream(QUESTION))[-1].answer
    assert passed[0] >= 1_000.0
    assert answer.status is AnswerStatus.ANSWERED
