import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.text.dates import date_order
from grounded_rag.text.values import canonical_values, may_be_value


def said(text, language=None):
    """What a text says beside its values: the words, and each value as its key."""
    parts: list[object] = []
    position = 0
    for span in canonical_values(text, language=language):
        parts += [*text[position : span.start].lower().split(), span.key]
        position = span.end
    return parts + text[position:].lower().split()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("within 2 weeks", "within 14 days"),
        ("take 250 mg", "take 0.25 g"),
        ("take .25 g", "take 0.25 g"),
        ("a rate of .5", "a rate of 0.5"),
        ("a debt of $987M", "a debt of $987 million"),
        ("a debt of $987M", "a debt of USD 987,000,000"),
        ("10k euros", "10,000 euros"),
        ("CHF 1'500", "CHF 1,500"),
        ("12\u202f000 people", "12,000 people"),
        ("1 500 people", "1500 people"),
        ("by 50 basis points", "by 0.5 percentage points"),
        ("three quarters of it", "75 % of it"),
        ("a third of it", "1/3 of it"),
        ("half of it", "50 % of it"),
        ("at minus 5 °C", "at -5 °C"),
        ("5 euros a month", "5 euros per month"),
        ("5 €/month", "5 euros per month"),
        ("three boxes", "3 boxes"),
        ("a dozen boxes", "12 boxes"),
        ("A million boxes", "1,000,000 boxes"),
        ("the 1st floor", "the first floor"),
        ("the 2nd floor", "the second floor"),
        ("at 14:00 UTC", "at 16:00 CEST"),
        ("half a million people", "500,000 people"),
        ("100 square metres", "100 m²"),
        ("25°C", "25 degrees Celsius"),
        ("10-15%", "between 10 and 15 percent"),
        ("six to eight weeks", "6–8 weeks"),
        ("three and a half years", "42 months"),
        ("100 km/h", "100 kilometres per hour"),
        ("the nineteenth century", "the 19th century"),
        ("on 3 Sept. 2024", "on September 3rd, 2024"),
        ("on 3 Sept. 2024", "on 2024-09-03"),
        ("on 13/04/2025", "on 13 April 2025"),
        ("on 04/25/2025", "on April 25, 2025"),
        ("at 6 pm", "at 18:00"),
        ("at 6 p.m.", "at 18 Uhr"),
        ("between 5 and 10 days", "5-10 days"),
        ("5 to 10 days", "5–10 days"),
        ("5 days to 10 days", "5-10 days"),
        ("€15-20", "15 to 20 euros"),
        ("from 3 to 9 May 2024", "from 3–9 May 2024"),
        ("open 9 am to 5 pm", "open 09:00-17:00"),
        ("Chapter IV", "Chapter 4"),
        ("5 KWH", "5 kWh"),
        ("5 kw", "5 kW"),
        ("44 BC", "44 B.C."),
        ("&lt; 5 mg", "< 5 mg"),
        ("half an hour", "30 minutes"),
        ("1 h 30 min", "90 minutes"),
        ("2,000 km²", "2000 km2"),
    ],
)
def test_one_value_in_two_notations(left, right):
    assert said(left) == said(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("2.1", "2.10"),
        ("Version 2.1", "Version 2.10"),
        ("5 MB", "5 Mb"),
        ("5 mS", "5 MS"),
        ("5 mm", "5 Mm"),
        ("5 mW", "5 MW"),
        ("5 MPa", "5 mPa"),
        ("on 03/04/2025", "on 3 April 2025"),
        ("on 03/04/2025", "on 4 March 2025"),
        ("on 03-04-2025", "on 3 April 2025"),
        ("from 2024/25", "from 2025"),
        ("44 BC", "44 AD"),
        ("5 days", "5 business days"),
        ("5 %", "5 percentage points"),
        ("0.5 %", "5 %"),
        ("< 5 mg", "> 5 mg"),
        ("a rate of .5", "a rate of 5"),
        ("y=-3", "y=3"),
        ("it costs €14.00", "it costs €14.000"),
        ("2.1 A contract begins", "2.10 A contract begins"),
        ("± 5", "5"),
        ("5+ years", "5 years"),
        ("$5", "A$5"),
        ("$5 million", "$5 billion"),
        ("9 a.m.", "9 p.m."),
        ("at 9:00", "at 9 pm"),
        ("open 9:00 to 5:00", "open 9 am to 5 am"),
        ("-5 °C", "5 °C"),
        ("a result of 5-3", "a result of 3-5"),
        ("fell from 90 to 70", "fell from 70 to 90"),
        ("fell from 90 to 70", "fell between 90 and 70"),
        ("between 5 and 10 days", "5 days"),
        ("from 3 to 9 May 2024", "from 3 to 9 May 2023"),
        ("10<sup>5</sup> cells", "105 cells"),
        ("5 euros per month", "5 euros per year"),
        ("one third of it", "1/2 of it"),
        ("5th century BC", "5th century"),
        ("12/11/10", "12 November 2010"),
        ("the value is null", "the value is 0"),
        ("a second later", "2 later"),
    ],
)
def test_two_values_that_look_alike(left, right):
    assert said(left) != said(right)


@pytest.mark.parametrize(
    "text",
    ["one of them", "a second chance", "see [53] and [4, 7]", "a 5-year-old", "mid-2024", "in May",
     "half the staff", "the '90s", "24/7", "1.500", "at 5 o'clock", "5-3"],
)  # fmt: skip
def test_what_is_in_doubt_stays_words(text):
    assert canonical_values(text) == ()


def test_a_hint_settles_day_and_month():
    assert said("on 03/04/2025", "en-GB") == said("on 3 April 2025", "en-GB")
    assert said("on 03/04/2025", "en-US") == said("on 4 March 2025", "en-US")
    assert said("from 03/04/2025 to 13/04/2025") == said("from 3 April 2025 to 13 April 2025")
    assert said("03/04/2025 or 04/13/2025 or 13/04/2025")[0] == "03/04/2025"


def test_the_whole_document_may_settle_day_and_month():
    order = date_order("Signed on 25/04/2025, valid from 03/05/2025.")
    assert canonical_values("03/04/2025", order=order)[0].key == ("date", "2025", "4", "3")


def test_a_language_settles_what_groups_digits():
    assert said("1.500 Euro", "de") == said("1500 Euro", "de")
    assert said("1,500 euros", "en") == said("1500 euros", "en")
    assert said("1.500 euros", "en") != said("1500 euros", "en")


def test_a_mark_of_citation_is_no_part_of_a_value():
    (span,) = canonical_values("The study [12] had 12 people.")
    assert span.start == 19


@given(st.text(alphabet=st.sampled_from(list("0123456789.,:/-–+$€%kgm½ ²'[]()&;<ltoan"))))
def test_values_are_places_in_the_text_in_order(text):
    end = 0
    for span in canonical_values(text):
        assert span.start >= end
        assert span.end > span.start
        end = span.end


UNITS = st.sampled_from(["", "kg", "mg", "euros", "%", "days", "MB", "km/h", "people"])


@given(st.integers(10, 10**9), st.integers(0, 3), UNITS)
def test_grouping_says_nothing_and_each_digit_something(number, places, unit):
    value = Decimal(number).scaleb(-places)
    plain, grouped = f"{value:f} {unit}", f"{value:,f} {unit}"
    if places != 3:  # "1.500" may be either
        assert said(plain, "en") == said(grouped, "en")
    other = Decimal(number + 1).scaleb(-places)
    assert said(plain, "en") != said(f"{other:f} {unit}", "en")


@pytest.mark.parametrize(
    "text",
    ["within two weeks", "$987M", "at minus 5 °C", "between 5 and 10 working days", "44 B.C.",
     "on the 3rd of September 2024", "at half past six", "5 euros a month", "Chapter IV",
     "half a million euros", "100 square metres", "from 14:00 UTC", "&lt; 5 mg"],
)  # fmt: skip
def test_each_word_of_a_value_may_be_one(text):
    for span in canonical_values(text):
        for word in re.findall(r"\w+", text[span.start : span.end].lower()):
            assert may_be_value(word)


def test_other_words_are_no_part_of_a_value():
    assert not any(map(may_be_value, "museum opens garden not only customer its".split()))
