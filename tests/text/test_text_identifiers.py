import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.text.identifiers import find_identifiers


def keys(text):
    return [one.key for one in find_identifiers(text)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Call 020 555 0100.", "Call 020-555-0100."),
        ("+49 (0)30 123 45 67", "+49 30 1234567"),
        ("Call 020 555 0100. 24 clerks answer.", "Call 0205550100"),
        ("Call 020 555 0100 24 hours a day.", "Call 020-555-0100 24/7"),
        ("0049 30 1234567", "+49 30 1234567"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN DE89370400440532013000"),
        ("account 12-34-5678", "account 12345678"),
        ("Chapter IV", "Chapter 4"),
        ("chapter iv", "Kapitel IV"),
        ("World War II", "World War Two"),
        ("0x80AF", "0X80af"),
        ("HTTPS://Acme.example/Fees", "https://acme.example/Fees"),
        ("help@Acme.example", "help@acme.example"),
        ("version 2.1", "Version v2.1"),
        ("Section 4 (a)", "section 4(a)"),
        ("fiscal 2024/25", "fiscal 2024/2025"),
        ("QX\u20112", "QX-2"),
    ],
)
def test_one_identifier_in_two_notations(left, right):
    assert keys(left)
    assert keys(left) == keys(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Version 2.1", "Version 2.10"),
        ("section 3.1", "section 3.10"),
        ("Section 4(a)", "Section 4(b)"),
        ("Section 4(a)", "Section 4(A)"),
        ("form 5-3", "form 3-5"),
        ("0x1F", "0x2F"),
        ("The code II", "The code III"),
        ("World War II", "World War I"),
        ("Model X", "Model 10"),
        ("code 1,500", "code 1500"),
        ("https://x.example/a", "https://x.example/b"),
        ("https://x.example/a", "https://x.example/A"),
        ("help@acme.example", "help@acme.example.org"),
        ("Nova 12 Pro", "Nova 12 Max"),
        ("Airbus A320", "Airbus A321"),
        ("QX-2", "qx-2"),
        ("room 007", "room 7"),
        ("Annex B", "Annex C"),
    ],
)
def test_two_identifiers_that_look_alike(left, right):
    assert keys(left)
    assert keys(left) != keys(right)


@pytest.mark.parametrize(
    "text",
    [
        "Vitamin C in size XL",
        "12,000 people in 2024",
        "between 2019-2025",
        "on 03/04/2025 at 09.00-17.00",
        "EUR1.2m and $5",
        "mid-2024",
        "You can order 12 tickets and book 3 rooms.",
        "a platform 3 metres high",
        "Section 5 days later",
        "the type I prefer and the code I wrote",
        "I saw John F. Kennedy",
        "5 kg, 10k, 3rd, 1980s",
        "3 May 2024",
        "## 3 days",
        "p@0.22 of the width",
        "we counted 1.234.567 and 100 000 of them",
    ],
)
def test_what_counts_is_no_identifier(text):
    assert keys(text) == []


def test_a_list_of_names_is_read_to_its_end():
    assert keys("Sections 4, 5 and 6(b) bind 7 people.") == ["4", "5", "6(b)"]
    assert keys("Section 4 and 7 people") == ["4"]


def test_the_sentence_around_an_address_is_not_part_of_it():
    found = find_identifiers("Read it (https://x.example/a_(b)), or write to help@x.example.")
    assert [one.text for one in found] == ["https://x.example/a_(b)", "help@x.example"]


@given(st.text(alphabet=st.sampled_from(list("0123456789.,:/-+()§#@ aAbIVXxeWw\u00a0'"))))
def test_identifiers_are_places_in_the_text_in_order(text):
    end = 0
    for one in find_identifiers(text):
        assert text[one.start : one.end] == one.text
        assert one.start >= end
        end = one.end
        assert one.end > one.start


NAMED = st.sampled_from(["version", "Section", "error code", "room", "Article", "Kapitel"])
NAMES = st.from_regex(r"[1-9][0-9]{0,2}(\.[1-9][0-9]?){0,3}", fullmatch=True)


@given(NAMED, NAMES, st.data())
def test_another_digit_is_another_name(word, name, data):
    place = data.draw(st.sampled_from([at for at, sign in enumerate(name) if sign.isdigit()]))
    other = data.draw(st.sampled_from(sorted(set("123456789") - {name[place]})))
    changed = name[:place] + other + name[place + 1 :]
    assert keys(f"{word} {name}") == [name]
    assert keys(f"{word} {name}") != keys(f"{word} {changed}")
    assert keys(f"{word} {name}") != keys(f"{word} {name}0")


@given(st.from_regex(r"0[1-9][0-9]{7,10}", fullmatch=True), st.sets(st.integers(3, 9), max_size=3))
def test_grouping_says_nothing_in_a_telephone_number(digits, cuts):
    grouped = digits
    for cut in sorted(cuts, reverse=True):
        if cut < len(grouped):
            grouped = f"{grouped[:cut]} {grouped[cut:]}"
    assert keys(f"Phone {grouped} now") == [digits]
