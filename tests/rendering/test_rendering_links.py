"""Which sources become links."""

import pytest

from grounded_rag.render.cards import source_link


@pytest.mark.parametrize(
    "source",
    [
        "javascript:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "vbscript:x",
        "data:text/html,x",
        "file:///etc/passwd",
        "//evil.example/x",
        "\\\\evil.example\\x",
        "/\\evil.example",
        "/etc/passwd",
        "C:\\secret.txt",
        "http:evil",
        "http:///x",
        "https://e.example/\"onclick='x'",
        "https://e.example/a b",
        "https://e.example\\@evil.example/",
        "#top",
        "?q",
        "",
        "  ",
        "a\u2028b",
        "a\ud800b",
    ],
)
def test_what_could_run_or_lead_elsewhere_is_no_link(source):
    assert source_link(source, page=1, quoted="x") is None


@pytest.mark.parametrize(
    ("source", "link"),
    [
        ("a/b.md", "a/b.md"),
        ("a b/ü (1).md", "a%20b/%C3%BC%20%281%29.md"),
        ("a/b:c?d#e.md", None),
        ("docs/50%.md", "docs/50%25.md"),
        ("../up.md", "../up.md"),
        ("https://e.example/x", "https://e.example/x"),
        ("https://e.example/x.pdf", "https://e.example/x.pdf"),
    ],
)
def test_addresses_and_relative_paths_are_links(source, link):
    found = source_link(source)
    if link is None:
        assert found is not None
        assert not set(":?#") & set(found)
    else:
        assert found == link


def test_a_pdf_is_opened_at_its_page():
    assert source_link("x.PDF", page=3) == "x.PDF#page=3"
    assert source_link("https://e.example/x.pdf", page=3) == "https://e.example/x.pdf#page=3"
    assert source_link("https://e.example/x.pdf#a", page=3) == "https://e.example/x.pdf#a"
    assert source_link("x.md", page=3) == "x.md"
