import pytest
from chatbot.api import SERVICE
from chatbot.sessions import Sessions
from chatbot.uploads import check_kind, shown_name
from chatbot_corpus import FACT, PAYLOAD, leaflet
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag import ExtractiveGenerator
from grounded_rag.errors import InputError

SECRET = "The secret word of this file is wombat."


@pytest.fixture
def reading(planned):
    """Let the built-in generator answer: no plan knows the text of uploads."""
    planned.otherwise = ExtractiveGenerator()


async def send(client, name, data):
    return await client.post("/api/uploads", params={"name": name}, content=data)


def folders(client):
    sessions = getattr(client.app.state, SERVICE).sessions
    return [session.folder for session in sessions._sessions.values()]


@pytest.mark.anyio
async def test_an_upload_can_be_asked_by_its_session_alone(visitors, ask, reading):
    mine, other = await visitors(), await visitors()
    response = await send(mine, "My notes.md", f"# Notes\n\n{SECRET}\n".encode())
    assert response.status_code == 200
    assert response.json()["name"] == "My notes.md"
    answer = (await ask(mine, "What is the secret word of this file?"))[-1][1]
    assert answer["claims"][0]["text"] == SECRET
    assert (answer["sources"][0]["title"], answer["sources"][0]["file"]) == ("My notes.md",) * 2
    answer = (await ask(other, "What is the secret word of this file?"))[-1][1]
    assert SECRET not in str(answer)
    await send(other, "other.md", b"# Other\n\nNothing to see here but a walrus.\n")
    answer = (await ask(other, "What is the secret word of this file?"))[-1][1]
    assert SECRET not in str(answer)
    opening = (await mine.post("/api/session")).json()
    assert ([one["id"] for one in opening["corpora"]], opening["uploads"]) == (
        ["test"],
        ["My notes.md"],
    )


@pytest.mark.anyio
async def test_the_documents_of_before_are_still_asked_together_with_an_upload(
    visitors, ask, reading
):
    client = await visitors()
    await ask(client, "When does the garden open?")
    await send(client, "notes.md", f"# Notes\n\n{SECRET}\n".encode())
    answer = (await ask(client, "When does the garden open, and what is the secret word?"))[-1][1]
    assert {FACT, SECRET} <= {claim["text"] for claim in answer["claims"]}
    assert {"Garden", "notes.md"} <= {source["title"] for source in answer["sources"]}
    # The pages of both can be shown.
    await send(client, "mine.pdf", leaflet("The window of the attic measures 90 centimetres."))
    for question, file in (
        ("What does the window of the attic measure?", "mine.pdf"),
        ("How much deposit and when must it be paid?", "leaflet.pdf"),
    ):
        await client.delete("/api/chat")
        answer = (await ask(client, question))[-1][1]
        assert answer["sources"][0]["file"] == file
        plan = (await client.get(f"/api/answers/{answer['id']}/pages/1")).json()
        assert len(plan["marks"]) >= 1


@pytest.mark.anyio
async def test_an_upload_in_the_middle_leaves_the_conversation_as_it_was(visitors, ask, reading):
    client = await visitors()
    await ask(client, "Is the east gate open on Saturdays?")
    await send(client, "notes.md", b"# Notes\n\nThe gate is green.\n")
    events = await ask(client, "And on Sundays?")
    assert ("followup", {"question": "Is the east gate open on Sundays?"}) in events


@pytest.mark.anyio
async def test_uploads_can_be_removed_and_take_the_answers_with_them(visitors, ask, reading):
    client = await visitors()
    await send(client, "notes.md", f"# Notes\n\n{SECRET}\n".encode())
    answer = (await ask(client, "What is the secret word of this file?"))[-1][1]
    assert answer["claims"][0]["text"] == SECRET
    assert (await client.delete("/api/uploads")).status_code == 204
    assert list(folders(client)[0].iterdir()) == []
    assert (await client.get(f"/api/answers/{answer['id']}/trace")).status_code == 404
    assert (await client.post("/api/session")).json()["uploads"] == []
    answer = (await ask(client, "What is the secret word of this file?"))[-1][1]
    assert SECRET not in str(answer)
    assert (await ask(client, "When does the garden open?"))[-1][1]["claims"][0]["text"] == FACT
    await send(client, "again.md", f"# Notes\n\n{SECRET}\n".encode())
    answer = (await ask(client, "What is the secret word of this file?"))[-1][1]
    assert answer["claims"][0]["text"] == SECRET


@pytest.mark.anyio
async def test_documents_are_not_removed_under_a_question(visitors, ask, reading):
    client = await visitors()
    await send(client, "notes.md", f"# Notes\n\n{SECRET}\n".encode())
    session = next(iter(getattr(client.app.state, SERVICE).sessions._sessions.values()))
    session.asking = 1
    assert (await client.delete("/api/uploads")).status_code == 429
    session.asking = 0
    answer = (await ask(client, "What is the secret word of this file?"))[-1][1]
    assert answer["claims"][0]["text"] == SECRET


@pytest.mark.anyio
async def test_a_second_upload_joins_the_first(visitors, ask, reading):
    client = await visitors()
    await send(client, "a.md", b"# A\n\nThe colour of the gate is green.\n")
    await send(client, "a.md", f"# B\n\n{SECRET}\n".encode())
    opening = (await client.post("/api/session")).json()
    assert opening["uploads"] == ["a.md", "a.md (2)"]
    for question, text in (
        ("What is the colour of the gate?", "The colour of the gate is green."),
        ("What is the secret word of this file?", SECRET),
    ):
        answer = (await ask(client, question))[-1][1]
        assert answer["claims"][0]["text"] == text


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd.md",
        "..\\..\\boot.md",
        "/etc/x.md",
        f"{PAYLOAD}.md",
        "a\x00b.md",
        "\u202edm.exe.md",
    ],
)
async def test_nothing_on_disk_bears_the_given_name(visitors, name):
    client = await visitors()
    response = await send(client, name, b"# A\n\nThe colour of the gate is green.\n")
    assert response.status_code == 200
    stored = [path.name for path in (folders(client)[0] / "documents").iterdir()]
    assert len(stored) == 1
    assert len(stored[0]) == len("0123456789abcdef.md")
    assert set(stored[0].removesuffix(".md")) <= set("0123456789abcdef")


@pytest.mark.anyio
async def test_a_file_that_is_too_large_is_refused_while_it_comes(visitors):
    client = await visitors(upload_bytes=1000)

    async def endless():
        for _ in range(10_000):
            sent.append(1)
            yield b"x" * 100

    sent = []
    response = await client.post("/api/uploads", params={"name": "a.md"}, content=endless())
    assert response.status_code == 400
    assert "larger" in response.json()["message"]
    assert (await send(client, "a.md", b"x" * 1001)).status_code == 400
    assert not (folders(client)[0] / "documents").exists()


@pytest.mark.anyio
async def test_of_a_file_that_says_it_is_too_large_nothing_is_read(visitors):
    client = await visitors(upload_bytes=1000)

    async def body():
        sent.append(1)
        yield b"x"

    sent = []
    response = await client.post(
        "/api/uploads",
        params={"name": "a.md"},
        content=body(),
        headers={"content-length": "1001"},
    )
    assert response.status_code == 400
    assert "larger" in response.json()["message"]
    assert sent == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.exe", b"MZ"),
        ("a", b"text"),
        ("a.svg", b"<svg onload=alert(1)>"),
        ("a.md.exe", b"text"),
        ("a.pdf", b"no pdf at all"),
        ("a.docx", b"no zip at all"),
        ("a.txt", b"\x00\x01\x02"),
        ("a.md", b""),
        ("a.pdf", b"%PDF-1.7 broken"),
        ("a.docx", b"PK\x03\x04broken"),
    ],
)
async def test_other_kinds_and_broken_files_are_refused_and_leave_nothing(visitors, name, data):
    client = await visitors()
    response = await send(client, name, data)
    assert response.status_code == 400
    assert response.json()["message"]
    assert str(folders(client)[0]) not in response.text
    documents = folders(client)[0] / "documents"
    assert not documents.exists() or list(documents.iterdir()) == []
    opening = (await client.post("/api/session")).json()
    assert opening["uploads"] == []


@pytest.mark.anyio
async def test_a_broken_file_does_not_harm_the_others(visitors, ask, reading):
    client = await visitors()
    await send(client, "good.md", f"# Notes\n\n{SECRET}\n".encode())
    assert (await send(client, "bad.pdf", b"%PDF-1.7 broken")).status_code == 400
    assert (await send(client, "leaflet.pdf", leaflet())).status_code == 200
    answer = (await ask(client, "What is the secret word of this file?"))[-1][1]
    assert answer["claims"][0]["text"] == SECRET


@pytest.mark.anyio
async def test_uploads_are_limited_in_number_and_rate(visitors):
    client = await visitors(most_uploads=1, uploads_per_minute=2)
    good = b"# A\n\nThe colour of the gate is green.\n"
    assert (await send(client, "a.md", good)).status_code == 200
    assert (await send(client, "b.md", good)).status_code == 400
    assert (await send(client, "c.md", good)).status_code == 429


def test_a_session_ends_with_its_files():
    now = [0.0]
    sessions = Sessions(most=2, seconds=10, clock=lambda: now[0])
    token, session = sessions.start()
    (session.folder / "documents").mkdir()
    assert sessions.find(token) is session
    now[0] = 11.0
    assert sessions.find(token) is None
    assert not session.folder.exists()
    first, kept = sessions.start()
    sessions.start()
    sessions.find(first)
    sessions.start()
    assert sessions.find(first) is kept
    assert len(sessions) == 2
    sessions.close()
    assert not kept.folder.exists()


def test_a_session_that_works_on_a_question_is_neither_expired_nor_made_room_of():
    now = [0.0]
    sessions = Sessions(most=1, seconds=10, clock=lambda: now[0])
    token, asking = sessions.start()
    asking.asking = 1
    sessions.start()
    assert sessions.find(token) is asking
    now[0] = 30.0
    assert sessions.find(token) is asking
    assert asking.folder.exists()
    asking.asking = 0
    now[0] = 60.0
    assert sessions.find(token) is None
    assert not asking.folder.exists()
    sessions.close()


@given(st.text(max_size=300))
def test_a_shown_name_is_one_short_line_without_tricks(name):
    shown = shown_name(name)
    assert len(shown) <= 100
    assert shown.isprintable()
    assert "/" not in shown


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_of_any_unicode_encoding_is_text(encoding):
    assert check_kind("a.txt", "The gate is green.".encode(encoding)) == ".txt"


@given(st.text(max_size=30), st.binary(max_size=64))
def test_the_kind_is_one_of_ours_whatever_the_name(name, head):
    try:
        suffix = check_kind(name, head)
    except InputError:
        return
    assert name.lower().endswith(suffix)
