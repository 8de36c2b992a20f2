"""Code that a line leads into belongs to its statement, character by character."""

import pytest

from grounded_rag import verify

LED = (
    "To clear the cache, run this command:\n\n```\nacme cache clear --all\n```\n\n"
    "It takes a minute."
)
ALONE = "## Clear the cache\n\n```sh\nacme cache clear --all\n```\n"
BELOW = "Clear the cache first.\n```\nacme cache clear --all\n```\n"


def judged(text, claim, *quotes):
    draft = {
        "claims": [{"text": claim, "citations": [{"chunk_id": "c", "quote": q} for q in quotes]}]
    }
    return verify(draft, [{"id": "c", "text": text}]).claims[0]


@pytest.mark.parametrize("text", [LED, ALONE, BELOW])
def test_the_statement_of_code_is_verbatim_and_holds_it_exactly(text):
    verdict = judged(text, "Something else.", "acme cache clear --all")
    (restated,) = verdict.restatements
    assert "    acme cache clear --all" in restated.text.splitlines()
    quotes = [check.citation.quote for check in restated.citations]
    assert judged(text, restated.text, *quotes).supported
    for changed in ("acme cache clear -all", "acme  cache clear --all", "Acme cache clear --all"):
        altered = restated.text.replace("acme cache clear --all", changed)
        assert not judged(text, altered, *quotes).supported


def test_a_line_that_leads_into_code_says_nothing_without_it():
    lead = "To clear the cache, run this command:"
    assert not judged(LED, lead, lead).supported
    (restated,) = judged(LED, lead, lead).restatements
    assert "acme cache clear --all" in restated.text


def test_a_line_that_ends_with_a_colon_and_leads_into_nothing_is_not_said():
    lead = "To clear the cache, run this command:"
    verdict = judged(f"{lead}\n\nIt takes a minute.", lead, lead)
    assert not verdict.supported
    assert not verdict.restatements


def test_code_whose_end_is_not_there_is_not_said():
    assert not judged(LED[: LED.index(" --all")], "x", "acme cache clear").restatements
