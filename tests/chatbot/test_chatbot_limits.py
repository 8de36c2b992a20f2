import anyio
import httpx
import pytest
from chatbot.limits import Gate, RateLimiter, TooManyError
from hypothesis import given
from hypothesis import strategies as st

QUESTION = "When does the garden open?"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_burst_then_one_at_a_time():
    clock = Clock()
    limiter = RateLimiter(3, clock=clock)
    for _ in range(3):
        limiter.take("a")
    with pytest.raises(TooManyError) as caught:
        limiter.take("a")
    assert caught.value.retry_after == 20
    limiter.take("b")
    clock.now = 20.0
    limiter.take("a")
    with pytest.raises(TooManyError):
        limiter.take("a")


@given(st.lists(st.floats(0, 30), max_size=60), st.integers(1, 10))
def test_never_more_than_the_burst_and_the_refill(waits, per_minute):
    clock = Clock()
    limiter = RateLimiter(per_minute, clock=clock)
    taken, soonest = 0, 1
    for wait in waits:
        clock.now += wait
        try:
            limiter.take("a")
            taken += 1
        except TooManyError as error:
            soonest = min(soonest, error.retry_after)
    assert soonest == 1
    assert taken <= per_minute + clock.now * per_minute / 60 + 1e-6


def test_strangers_cannot_fill_the_memory():
    limiter = RateLimiter(1)
    for number in range(10_050):
        limiter.take(str(number))
    # The oldest are forgotten, the latest are not.
    limiter.take("0")
    with pytest.raises(TooManyError):
        limiter.take("10049")


def test_a_limiter_that_is_off_lets_everything_pass():
    limiter = RateLimiter(1, on=False)
    for _ in range(100):
        limiter.take("a")


def test_a_ticket_is_given_back_once():
    gate = Gate(running=1, waiting=0)
    ticket = gate.enter()
    with pytest.raises(TooManyError):
        gate.enter()
    ticket.release()
    ticket.release()
    assert gate.inside == 0
    gate.enter()
    with pytest.raises(TooManyError):
        gate.enter()


@pytest.mark.anyio
async def test_a_session_that_asks_too_often_is_told_when_to_come_back(visitors, ask):
    client = await visitors(asks_per_minute=2)
    other = await visitors(asks_per_minute=2)
    for _ in range(2):
        await ask(client, QUESTION)
    response = await client.post("/api/ask", json={"question": QUESTION, "corpus": "test"})
    assert response.status_code == 429
    assert 1 <= int(response.headers["retry-after"]) <= 30
    assert response.json()["retry_after"] == int(response.headers["retry-after"])
    await ask(other, QUESTION)


@pytest.mark.anyio
async def test_new_sessions_cannot_go_around_the_limit(visitors, ask):
    clients = [await visitors(asks_per_minute_address=2) for _ in range(3)]
    for client in clients[:2]:
        await ask(client, QUESTION)
    response = await clients[2].post("/api/ask", json={"question": QUESTION, "corpus": "test"})
    assert response.status_code == 429


@pytest.mark.anyio
async def test_sessions_are_limited_for_each_address(visitors):
    client = await visitors(start=False, sessions_per_minute_address=1)
    assert (await client.post("/api/session")).status_code == 200
    assert (await client.post("/api/session")).status_code == 200
    client.cookies.clear()
    assert (await client.post("/api/session")).status_code == 429


@pytest.mark.anyio
async def test_when_all_places_are_taken_the_next_is_turned_away(visitors, planned):
    held, free = anyio.Event(), anyio.Event()

    async def hold():
        held.set()
        await free.wait()

    planned.holds[QUESTION] = hold
    settings = {"running": 1, "waiting": 1}
    clients = [await visitors(**settings) for _ in range(3)]
    statuses = []

    async def send(client):
        response = await client.post("/api/ask", json={"question": QUESTION, "corpus": "test"})
        statuses.append(response.status_code)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send, clients[0])
        await held.wait()
        tasks.start_soon(send, clients[1])
        await anyio.wait_all_tasks_blocked()
        health = await clients[2].get("/healthz")
        assert health.json()["working"] == 2
        await send(clients[2])
        assert statuses == [429]
        free.set()
    assert statuses == [429, 200, 200]
    assert (await clients[0].get("/healthz")).json()["working"] == 0


@pytest.mark.anyio
async def test_a_visitor_who_leaves_gives_the_place_back(visitors, planned, ask):
    held = anyio.Event()

    async def hold():
        held.set()
        await anyio.sleep_forever()

    planned.holds[QUESTION] = hold
    client = await visitors(running=1, waiting=0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            lambda: client.post("/api/ask", json={"question": QUESTION, "corpus": "test"})
        )
        await held.wait()
        tasks.cancel_scope.cancel()
    planned.holds.clear()
    assert (await ask(client, QUESTION))[-1][0] == "answer"


@pytest.mark.anyio
async def test_a_session_asks_two_things_at_once_at_most(visitors, planned):
    free = anyio.Event()
    planned.holds[QUESTION] = free.wait
    client = await visitors()
    body = {"question": QUESTION, "corpus": "test"}
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(lambda: client.post("/api/ask", json=body))
        await anyio.wait_all_tasks_blocked()
        response: httpx.Response = await client.post("/api/ask", json=body)
        assert response.status_code == 429
        free.set()
