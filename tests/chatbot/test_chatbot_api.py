import json

import pytest
from chatbot_corpus import DOGS, FACT, HOSTILE, NEW, OLD, OWN_WORDS, PAYLOAD, TABLE_ROW, UNKNOWN

from grounded_rag import load_receipt, verify_receipt
from grounded_rag.errors import ProviderUnavailableError

pytestmark = pytest.mark.anyio


def quoted(source):
    """Return the marked text of a source card's paragraphs."""
    return "".join(
        segment["text"]
        for block in source["blocks"]
        for segment in block["segments"]
        if segment["quoted"]
    )


async def test_an_answer_comes_with_its_quote_in_the_source(visitors, ask, corpus_folder):
    client = await visitors()
    name, answer = (await ask(client, "When does the garden open?"))[-1]
    assert name == "answer"
    assert [claim["text"] for claim in answer["claims"]] == [FACT]
    assert answer["claims"][0]["numbers"] == [1]
    source = answer["sources"][0]
    assert source["title"] == "Garden"
    assert source["place"] == ["Hours"]
    assert quoted(source) == source["quote"] == FACT
    assert source["quote"] in (corpus_folder / source["file"]).read_text(encoding="utf-8")


async def test_progress_comes_first_then_verified_claims_then_the_answer(visitors, ask):
    client = await visitors()
    events = await ask(client, "Garden hours and dogs?")
    kinds = [name for name, _ in events]
    assert kinds == sorted(kinds, key=["progress", "claim", "answer"].index)
    told = [data["text"] for name, data in events if name == "claim"]
    assert told == [claim["text"] for claim in events[-1][1]["claims"]]
    assert len(told) == 2
    assert all(text not in str(data) for text in told for name, data in events[:-3])


async def test_nothing_unverified_is_told_on_the_way(visitors, ask):
    client = await visitors()
    events = await ask(client, "Does the garden sell rejected roses?")
    assert "red roses" not in json.dumps(events)
    assert {data["stage"] for name, data in events if name == "progress"} >= {"asking_again"}


async def test_a_quoted_table_row_is_marked_in_its_table(visitors, ask):
    client = await visitors()
    answer = (await ask(client, "How many boats has the Harbour?"))[-1][1]
    table = next(block for block in answer["sources"][0]["blocks"] if block["kind"] == "table")
    assert table["header"] == ["Place", "Boats", "Crew"]
    assert [row["quoted"] for row in table["rows"]] == [True, False]
    cells = ["".join(part["text"] for part in cell) for cell in table["rows"][0]["cells"]]
    assert cells == [cell.strip(" *") for cell in TABLE_ROW.strip("|").split("|")]


async def test_an_outdated_source_names_the_document_in_force(visitors, ask):
    client = await visitors()
    answer = (await ask(client, "What was the rate in the old sheet?"))[-1][1]
    assert answer["claims"][0]["text"] == OLD
    note = next(note for note in answer["notes"] if note["kind"] == "superseded")
    assert note["current"] == "Rates of 2026"
    assert note["since"] == "2026-01-01"
    assert "superseded" in {badge["kind"] for badge in answer["sources"][0]["badges"]}


async def test_another_date_makes_the_same_source_current(visitors, ask):
    client = await visitors()
    events = await ask(client, "What was the rate in the old sheet?", as_of="2025-06-01")
    answer = events[-1][1]
    assert answer["notes"] == []
    assert answer["as_of"] == "2025-06-01"
    assert [badge["kind"] for badge in answer["sources"][0]["badges"]] == ["current"]


async def test_without_a_date_the_corpus_tells_today(visitors, ask):
    client = await visitors()
    answer = (await ask(client, "When does the garden open?"))[-1][1]
    assert answer["as_of"] == "2026-11-29"


async def test_a_conflict_shows_both_sides_in_their_own_words(visitors, ask):
    client = await visitors()
    answer = (await ask(client, "Is the east gate open on Saturdays?"))[-1][1]
    note = next(note for note in answer["notes"] if note["kind"] == "conflict")
    assert [side["title"] for side in note["sides"]] == ["East", "Gates"]
    assert "14:00" in note["sides"][0]["text"]
    assert note["sides"][1]["text"] == "The east gate is open on Saturdays from 9:30 to 12:30."


async def test_an_unproven_sentence_is_told_in_the_words_of_the_source(visitors, ask):
    client = await visitors()
    events = await ask(client, "When may people and dogs come into the garden?")
    told = [(data["text"], data["restated"]) for name, data in events if name == "claim"]
    assert told == [(FACT, True), (DOGS, False)]
    answer = events[-1][1]
    assert [claim["restated"] for claim in answer["claims"]] == [True, False]
    assert {claim["tier"] for claim in answer["claims"]} == {"verbatim"}
    assert answer["support"] == "[1] in the source’s words; [2] word for word from the source"
    assert OWN_WORDS not in json.dumps(answer)


async def test_the_trace_tells_tier_and_what_was_shown_in_the_place_of_a_sentence(visitors, ask):
    client = await visitors()
    answer = (await ask(client, "When may people and dogs come into the garden?"))[-1][1]
    trace = (await client.get(f"/api/answers/{answer['id']}/trace")).json()
    unproven, copied = trace["attempts"][0]["claims"]
    assert (unproven["text"], unproven["status"]) == (OWN_WORDS, "open")
    assert (unproven["instead"], unproven["withheld"], unproven["support"]) == (FACT, "", "")
    assert (copied["support"], copied["instead"]) == ("word for word from the source", "")


def test_a_service_may_refuse_what_is_unproven():
    from chatbot.settings import Settings

    assert Settings(unproven="refuse").policy.unproven == "refuse"
    assert Settings().policy.unproven == "restate"


async def test_the_receipt_holds_the_tier_of_each_sentence(visitors, ask):
    client = await visitors()
    answer = (await ask(client, "When may people come into the garden?"))[-1][1]
    receipt = (await client.get(f"/api/answers/{answer['id']}/receipt")).json()
    assert [claim["tier"] for claim in receipt["claims"]] == ["verbatim"]
    assert OWN_WORDS not in json.dumps(receipt)


async def test_a_refusal_has_a_reason_and_passages_that_are_no_claims(visitors, ask):
    client = await visitors()
    answer = (await ask(client, UNKNOWN))[-1][1]
    assert answer["status"] == "refused"
    assert answer["claims"] == answer["sources"] == []
    assert answer["refusal"]["text"] == "I don't have enough information to answer that."
    assert answer["refusal"]["detail"]
    nearest = answer["refusal"]["nearest"]
    assert "Garden" in [one["title"] for one in nearest]
    assert len(nearest) <= 3
    assert all(one["number"] is None and one["quote"] == "" for one in nearest)


async def test_rejected_text_is_in_the_trace_alone(visitors, ask):
    client = await visitors()
    answer = (await ask(client, "Does the garden sell rejected roses?"))[-1][1]
    assert answer["status"] == "refused"
    assert "red roses" not in json.dumps(answer)
    trace = (await client.get(f"/api/answers/{answer['id']}/trace")).json()
    claim = trace["attempts"][0]["claims"][0]
    assert (claim["passed"], claim["text"]) == (False, "The garden sells red roses all year round.")
    assert claim["reason"] == "quote not found"
    assert claim["withheld"] == "it quotes no statement of the source"
    # The same is never asked twice, so the third attempt is not made.
    assert [attempt["number"] for attempt in trace["attempts"]] == [1, 2]
    assert trace["usage"]["input_tokens"] == 200


async def test_the_receipt_can_be_verified(visitors, ask, tmp_path, index_folder):
    client = await visitors()
    answer = (await ask(client, "When does the garden open?"))[-1][1]
    response = await client.get(f"/api/answers/{answer['id']}/receipt")
    assert response.headers["content-disposition"].startswith("attachment")
    path = tmp_path / "receipt.json"
    path.write_bytes(response.content)
    receipt = load_receipt(path)
    assert receipt.question == "When does the garden open?"
    assert verify_receipt(receipt, index=index_folder).stands


async def test_an_error_of_the_provider_is_never_an_answer(visitors, ask, planned):
    client = await visitors()
    planned.errors["When does the garden open?"] = ProviderUnavailableError(
        "The provider is overloaded.", hint="Try again in a minute."
    )
    name, failure = (await ask(client, "When does the garden open?"))[-1]
    assert name == "failure"
    assert failure == {
        "kind": "provider",
        "message": "The provider is overloaded.",
        "hint": "Try again in a minute.",
        "again": True,
    }


async def test_an_unforeseen_error_tells_nothing_of_the_inside(visitors, ask, planned, caplog):
    client = await visitors()
    planned.errors["When does the garden open?"] = ZeroDivisionError("secret detail")
    name, failure = (await ask(client, "When does the garden open?"))[-1]
    assert (name, failure["kind"]) == ("failure", "internal")
    assert "secret" not in json.dumps(failure)
    assert "secret detail" in caplog.text


async def test_an_empty_question_is_told_as_such(visitors, ask):
    client = await visitors()
    name, failure = (await ask(client, "   "))[-1]
    assert (name, failure["kind"]) == ("failure", "input")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": "x" * 2001, "corpus": "test"}, 400),
        ({"question": "x", "corpus": "test", "as_of": "soon"}, 400),
        ({"question": "x", "corpus": "other"}, 404),
        ({"question": "x", "corpus": "uploads"}, 404),
        ({"question": "x", "corpus": "test", "more": 1}, 400),
    ],
)
async def test_what_cannot_be_asked_is_refused(visitors, body, status):
    client = await visitors()
    response = await client.post("/api/ask", json=body)
    assert response.status_code == status
    assert response.json()["message"]


async def test_feedback_is_one_line_in_a_local_file(visitors, ask, tmp_path):
    client = await visitors()
    answer = (await ask(client, "When does the garden open?"))[-1][1]
    body = {"verdict": "down", "reason": f"line\nbreak {PAYLOAD}"}
    response = await client.post(f"/api/answers/{answer['id']}/feedback", json=body)
    assert response.status_code == 204
    lines = (tmp_path / "data" / "feedback.jsonl").read_text(encoding="utf-8").splitlines()
    kept = json.loads(lines[0])
    assert len(lines) == 1
    assert (kept["verdict"], kept["reason"]) == ("down", body["reason"])
    assert (kept["question"], kept["cited"]) == ("When does the garden open?", ["garden.md"])


@pytest.mark.parametrize("body", [{"verdict": "maybe"}, {"verdict": "up", "reason": "x" * 2001}])
async def test_other_feedback_is_refused(visitors, ask, body):
    client = await visitors()
    answer = (await ask(client, "When does the garden open?"))[-1][1]
    response = await client.post(f"/api/answers/{answer['id']}/feedback", json=body)
    assert response.status_code == 400


async def test_answers_belong_to_their_session(visitors, ask):
    mine, other = await visitors(), await visitors()
    answer = (await ask(mine, "How much deposit and when must it be paid?"))[-1][1]
    for path in ("trace", "receipt", "pages/1", "pages/1/picture"):
        assert (await mine.get(f"/api/answers/{answer['id']}/{path}")).status_code == 200
        assert (await other.get(f"/api/answers/{answer['id']}/{path}")).status_code == 404
    body = {"verdict": "up"}
    response = await other.post(f"/api/answers/{answer['id']}/feedback", json=body)
    assert response.status_code == 404


async def test_nothing_is_told_without_a_session(visitors):
    client = await visitors(start=False)
    for method, path in (
        ("POST", "/api/ask"),
        ("GET", "/api/answers/x/trace"),
        ("POST", "/api/uploads?name=a.md"),
        ("DELETE", "/api/chat"),
    ):
        body = {"question": "x", "corpus": "test"} if path == "/api/ask" else None
        response = await client.request(method, path, json=body)
        assert (response.status_code, response.json()["error"]) == (401, "session")


async def test_the_session_cookie_is_kept_from_scripts_and_other_sites(visitors):
    client = await visitors(start=False)
    cookie = (await client.post("/api/session")).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize("path", ["/", "/healthz", "/static/app.js", "/api/none", "/none"])
async def test_every_response_carries_the_security_headers(visitors, path):
    client = await visitors()
    headers = (await client.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/ask"),
        ("POST", "/api/session"),
        ("POST", "/api/uploads?name=a.md"),
        ("DELETE", "/api/chat"),
        ("PUT", "/api/chat"),
        ("PATCH", "/api/chat"),
    ],
)
async def test_a_page_of_another_origin_can_write_nothing(visitors, method, path):
    client = await visitors()
    del client.headers["x-chatbot"]
    response = await client.request(method, path, json={"question": "x", "corpus": "test"})
    assert response.status_code == 403


async def test_a_page_of_another_origin_cannot_end_a_conversation(visitors, ask):
    client = await visitors()
    await ask(client, "Is the east gate open on Saturdays?")
    del client.headers["x-chatbot"]
    assert (await client.delete("/api/chat")).status_code == 403
    client.headers["x-chatbot"] = "1"
    events = await ask(client, "And on Sundays?")
    assert ("followup", {"question": "Is the east gate open on Sundays?"}) in events


async def test_a_foreign_host_name_is_refused(visitors):
    client = await visitors()
    response = await client.get("/healthz", headers={"host": "evil.example"})
    assert response.status_code == 400


async def test_health_tells_that_it_works(visitors):
    client = await visitors()
    body = (await client.get("/healthz")).json()
    assert (body["status"], body["corpora"], body["sessions"]) == ("ok", ["test"], 1)


async def test_hostile_text_travels_as_data(visitors, ask):
    client = await visitors()
    question = f"What does the hostile page say? {PAYLOAD}"
    response = await client.post("/api/ask", json={"question": question, "corpus": "test"})
    assert response.headers["content-type"].startswith("text/event-stream")
    answer = json.loads(response.text.rsplit("data: ", 1)[1])
    assert answer["claims"][0]["text"] == HOSTILE
    assert answer["question"] == question
    assert NEW not in response.text


async def test_a_follow_up_is_understood_from_the_questions_before(visitors, ask, planned):
    client = await visitors()
    await ask(client, "Is the east gate open on Saturdays?")
    events = await ask(client, "And on Sundays?")
    assert ("followup", {"question": "Is the east gate open on Sundays?"}) in events
    assert planned.asked[-1] == events[-1][1]["question"] == "Is the east gate open on Sundays?"
    await client.delete("/api/chat")
    assert (await ask(client, "And on Sundays?"))[-1][1]["question"] == "And on Sundays?"


async def test_conversations_of_two_people_stay_apart(visitors, ask):
    mine, other = await visitors(), await visitors()
    await ask(mine, "Is the east gate open on Saturdays?")
    events = await ask(other, "And on Sundays?")
    assert "followup" not in [name for name, _ in events]


async def test_an_earlier_answer_that_no_longer_holds_is_corrected_once(visitors, ask):
    client = await visitors()
    await ask(client, "What was the rate in the old sheet?", as_of="2025-06-01")
    events = await ask(client, "When does the garden open?")
    (correction,) = [data for name, data in events if name == "correction"]
    assert correction["question"] == "What was the rate in the old sheet?"
    assert "superseded" in correction["reasons"][0]
    events = await ask(client, "When does the garden open?")
    assert "correction" not in [name for name, _ in events]


async def test_only_the_latest_answers_are_kept(visitors, ask):
    client = await visitors(limits=False)
    answers = [(await ask(client, UNKNOWN))[-1][1]["id"] for _ in range(21)]
    assert len(set(answers)) == 21
    assert (await client.get(f"/api/answers/{answers[0]}/trace")).status_code == 404
    assert (await client.get(f"/api/answers/{answers[1]}/trace")).status_code == 200


async def test_a_long_conversation_forgets_its_beginning(visitors, ask):
    from chatbot.api import SERVICE

    client = await visitors(limits=False)
    for _ in range(12):
        await ask(client, UNKNOWN)
    (session,) = getattr(client.app.state, SERVICE).sessions._sessions.values()
    assert len(session.conversations["test"][1].turns) <= 9
