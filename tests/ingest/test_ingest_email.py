import datetime as dt

import pytest

from grounded_rag.errors import NoTextError, ReadError
from grounded_rag.ingest import build_document
from grounded_rag.ingest.readers import EmailReader

PLAIN = b"""Subject: =?utf-8?q?Geb=C3=BChren?=
From: "Fenn" <fenn@mail.example>
To: desk@bank.example
Date: Tue, 13 Oct 2026 09:42:00 +0200
Content-Type: text/plain; charset="windows-1252"
Content-Transfer-Encoding: 8bit

The fee is \x80 5.
> quoted
"""
BOTH = b"""Subject: Two
Date: nonsense
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: multipart/alternative; boundary=Y

--Y
Content-Type: text/html; charset=utf-8

<p>rich</p><p hidden>SECRET</p>
--Y
Content-Type: text/plain; charset=utf-8

plain
--Y--
--X
Content-Type: application/pdf
Content-Disposition: attachment; filename="a.pdf"

x
--X--
"""


def read(data):
    return EmailReader().read(data, source="m.eml")


def test_headers_and_body_are_text_and_the_date_is_known():
    parsed = read(PLAIN)
    assert parsed.text == (
        "Subject: Gebühren\nFrom: Fenn <fenn@mail.example>\nTo: desk@bank.example\n"
        "Date: Tue, 13 Oct 2026 09:42:00 +0200\n\nThe fee is € 5.\n> quoted\n"
    )
    assert parsed.title == "Gebühren"
    assert parsed.headings[0].of(parsed.text) == "Subject: Gebühren"
    built = build_document(parsed, doc_id="m.eml", source="m.eml").document
    moment = dt.datetime(2026, 10, 13, 9, 42, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert built.validity.updated_at == moment


def test_plain_text_is_preferred_and_attachments_are_told():
    parsed = read(BOTH)
    assert parsed.text.endswith("\n\nplain\n") or parsed.text.endswith("\n\nplain")
    assert "updated_at" not in parsed.metadata
    assert parsed.warnings == ("m.eml: 1 attachments were not read: a.pdf.",)


def test_html_is_read_where_there_is_no_plain_text():
    html = BOTH.replace(b"text/plain", b"text/x-none").replace(b"<p>rich", b"<h2>Top</h2><p>rich")
    parsed = read(html)
    assert parsed.text.endswith("\n\nTop\n\nrich")
    assert [span.of(parsed.text) for span in parsed.headings] == ["Subject: Two", "Top"]


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"no headers at all", ReadError), (b"Subject: x\n\n", NoTextError), (b"", ReadError)],
)
def test_what_is_no_message_is_refused(data, kind):
    with pytest.raises(kind):
        read(data)


@pytest.mark.parametrize(
    "header",
    [b"From: =?x?q?=ff?=", b"To: <<<>>>,,;:", b"Date: Tue, 99 Foo", b"From: \xff\xfe", b"To: a:;"],
)
def test_malformed_headers_do_no_harm(header):
    parsed = read(b"Subject: s\n" + header + b"\n\nbody\n")
    assert parsed.text.endswith("body\n")
    assert parsed.text.encode()


def test_a_message_of_very_many_parts_is_refused():
    data = b"Subject: s\nContent-Type: multipart/mixed; boundary=X\n\n" + b"--X\n\nx\n" * 1001
    with pytest.raises(ReadError, match="more than 1000 parts"):
        read(data)
