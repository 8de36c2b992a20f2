import pytest
from chatbot.layout import claim_blocks, parts, source_lists

from grounded_rag.testing import make_chunk

MARKDOWN = "text/markdown"
SOURCE = (
    "Confirmation codes **SHALL** be valid for at most:\n\n"
    "* 21 days, by post;\n* 10 minutes, by *phone*; or\n* 24 hours, by email.\n"
)
LEAD_IN = "Confirmation codes SHALL be valid for at most:"
LISTS = source_lists([(make_chunk(SOURCE), MARKDOWN)])


def told(block):
    return ["".join(piece.text for piece in item.segments) for item in block.items] or "".join(
        piece.text for piece in block.segments
    )


def laid(*claims, lists=LISTS):
    made = [claim_blocks(text, media_type=MARKDOWN, lists=lists) for text in claims]
    return [(part.kind, part.claims) for part in parts(made, lists)]


def test_a_lead_in_with_its_items_is_a_list():
    claim = f"{LEAD_IN} 21 days, by post; 10 minutes, by phone; or 24 hours, by email."
    lead_in, items = claim_blocks(claim, media_type=MARKDOWN, lists=LISTS)
    assert (lead_in.kind, told(lead_in)) == ("text", LEAD_IN)
    assert (items.kind, told(items)) == (
        "list",
        ["21 days, by post;", "10 minutes, by phone; or", "24 hours, by email."],
    )


@pytest.mark.parametrize(
    "claim",
    [
        f"{LEAD_IN} 24 hours, by email.",
        "Requirement: Replay resistance; level 1: Not required",
        "The office is open: 21 days, by post, are more than 24 hours, by email.",
        "Fees: 3 euros; 4 euros.",
    ],
)
def test_what_is_no_list_of_the_source_stays_a_sentence(claim):
    (block,) = claim_blocks(claim, media_type=MARKDOWN, lists=LISTS)
    assert (block.kind, told(block)) == ("text", claim)


@pytest.mark.parametrize(
    "claim",
    [
        "To switch on, use:\n\n    acme config\n      set **x**",
        "To switch on, use:\n\n```\nacme config\n  set **x**\n```",
        "To switch on, use:\n\nacme config\n  set **x**",
        "To switch on, use:\nacme config\n  set **x**",
    ],
)
@pytest.mark.parametrize("media_type", [MARKDOWN, "text/html"])
def test_code_of_a_claim_is_code_character_by_character(claim, media_type):
    if "```" in claim and media_type != MARKDOWN:
        pytest.skip("only Markdown has fences")
    lead_in, code = claim_blocks(claim, media_type=media_type)
    assert (lead_in.kind, told(lead_in)) == ("text", "To switch on, use:")
    assert (code.kind, told(code)) == ("code", "acme config\n  set **x**")


def test_items_in_lines_are_a_list():
    lead_in, items = claim_blocks("Bring:\n\n- a towel\n- water", media_type="text/plain")
    assert (told(lead_in), told(items)) == ("Bring:", ["a towel", "water"])


def test_marks_of_the_source_are_not_shown_and_those_of_others_are():
    claim = "It **SHALL** last.</li> <li>It ends. {:.letter-list}"
    (block,) = claim_blocks(claim, media_type=MARKDOWN)
    assert " ".join(told(block).split()) == "It SHALL last. It ends."
    (block,) = claim_blocks(claim, media_type="application/pdf")
    assert told(block) == claim


def test_the_first_claim_leads_and_the_others_run_on():
    assert laid("It opens at 7.", "Dogs stay out.", "Bring water.") == [
        ("lead", (0,)),
        ("text", (1, 2)),
    ]


def test_what_does_not_end_as_a_sentence_stands_alone():
    assert laid("It opens at 7.", "Place: Quay", "Bring water.", "Dogs stay out.") == [
        ("lead", (0,)),
        ("text", (1,)),
        ("text", (2, 3)),
    ]


def test_claims_that_are_items_of_one_list_are_a_list():
    claims = [f"{LEAD_IN} 21 days, by post;", f"{LEAD_IN} 24 hours, by email.", "That is all."]
    made = [claim_blocks(text, media_type=MARKDOWN, lists=LISTS) for text in claims]
    first, second = parts(made, LISTS)
    assert (first.kind, first.claims, first.lead_in) == ("list", (0, 1), LEAD_IN)
    assert first.items == ("21 days, by post;", "24 hours, by email.")
    assert (second.kind, second.claims) == ("text", (2,))


def test_bare_items_of_one_list_are_a_list_and_those_of_two_are_not():
    other = source_lists([(make_chunk("- a towel\n- water\n"), MARKDOWN)])
    assert laid("21 days, by post", "24 hours, by email", "water", lists=(*LISTS, *other)) == [
        ("list", (0, 1)),
        ("text", (2,)),
    ]


def test_code_stands_alone():
    assert laid("Use:\n\n    acme", "It stays on.") == [("block", (0,)), ("text", (1,))]
