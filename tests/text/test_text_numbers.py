from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Agreement, Bound, compare


def only(text, language=None):
    (quantity,) = find_quantities(text, language=language)
    return quantity


@given(
    st.text(alphabet=st.sampled_from(list("0123456789.,:/-–$€%kgm½⁵'² \u00a0aTtwomilnhudre年月Ⅷ٣")))
)
def test_quantities_are_places_in_the_text_in_order(text):
    end = 0
    for quantity in find_quantities(text):
        assert quantity.span.of(text) == quantity.text
        assert quantity.start >= 0
        assert quantity.end > quantity.start
        assert quantity.end >= end
        end = quantity.end


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1500 boxes", 1500, ""),
        ("1 500 boxes", 1500, ""),
        ("1\u202f500,00 €", 1500, "EUR"),
        ("1'500 Franken", 1500, "CHF"),
        ("1,234,567", 1234567, ""),
        ("12,34,567", 1234567, ""),
        ("1.234.567,89 Euro", Fraction("1234567.89"), "EUR"),
        ("3.14 bar", Fraction("3.14"), "bar"),
        ("5 %", Fraction(1, 20), "%"),
        ("5 percent", Fraction(1, 20), "%"),
        ("5 per cent", Fraction(1, 20), "%"),
        ("2 percentage points", 2, "pp"),
        ("50 basis points", Fraction(1, 2), "pp"),
        ("4.2 million", 4200000, ""),
        ("4,2 Mio. Euro", 4200000, "EUR"),
        ("₹4 lakh", 400000, "INR"),
        ("2 crore", 20000000, ""),
        ("$3bn", 3000000000, "USD"),
        ("US$1.5m", 1500000, "USD"),
        ("EUR 1.2m", 1200000, "EUR"),
        ("£40", 40, "GBP"),
        ("10k", 10000, ""),
        ("½", Fraction(1, 2), ""),
        ("1½ hours", 5400, "s"),
        ("two thirds", Fraction(2, 3), ""),
        ("three-quarters", Fraction(3, 4), ""),
        ("one and a half", Fraction(3, 2), ""),
        ("twenty-two people", 22, ""),
        ("two hundred and fifty", 250, ""),
        ("one thousand five hundred", 1500, ""),
        ("a dozen", 12, ""),
        ("einundzwanzig", 21, ""),
        ("vingt-deux ans", 264, "month"),
        ("２４名", 24, ""),
        ("٢٤", 24, ""),
        ("10⁵ cells", 100000, ""),
        ("3 × 10^5", 300000, ""),
        ("2e3", 2000, ""),
        ("−5 °C", -5, "°C"),
        ("minus 5", -5, ""),
        ("250 µg", Fraction(1, 4000), "g"),
        ("2.5 kg", 2500, "g"),
        ("9kg", 9000, "g"),
        ("a 30-day period", 2592000, "s"),
        ("1 h 30 min", 5400, "s"),
        ("ten working days", 10, "working day"),
    ],
)
def test_value_and_unit(text, value, unit):
    quantity = only(text)
    assert quantity.values == (value,)
    assert quantity.unit == unit


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("1,500", "en", {1500}),
        ("1,500", "de", {Fraction(3, 2)}),
        ("1.500", "de", {1500}),
        ("1.500", "en", {Fraction(3, 2)}),
        ("1.500", None, {1500, Fraction(3, 2)}),
        ("0.500", None, {Fraction(1, 2)}),
    ],
)
def test_ambiguous_grouping_keeps_both_readings_unless_the_language_settles_it(
    text, language, values
):
    assert set(only(text, language).values) == values


@pytest.mark.parametrize("text", ["Model QX-2", "IP67", "covid-19", "A_5", "3D", "a4x"])
def test_codes_hold_no_quantity(text):
    assert find_quantities(text) == ()


@pytest.mark.parametrize("text", ["1.2.3", "9" * 50, "192.168.0.1"])
def test_numbers_that_count_nothing_are_labels(text):
    assert only(text).kind == "label"


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("up to 30 days", Bound.AT_MOST),
        ("no more than 5", Bound.AT_MOST),
        ("must not exceed 30 kg", Bound.AT_MOST),
        ("a maximum of 5", Bound.AT_MOST),
        ("höchstens vier Tage", Bound.AT_MOST),
        ("at least two", Bound.AT_LEAST),
        ("30 or more", Bound.AT_LEAST),
        ("mindestens 3", Bound.AT_LEAST),
        ("more than £40", Bound.MORE_THAN),
        ("heavier than 15 kg", Bound.MORE_THAN),
        ("fewer than 8", Bound.LESS_THAN),
        ("about 8", Bound.ABOUT),
        ("ca. 8", Bound.ABOUT),
        ("30 days", Bound.EXACT),
    ],
)
def test_bounds(text, bound):
    assert only(text).bound is bound


def test_ranges_share_their_unit():
    low, high = find_quantities("between 15 and 20 kg")
    assert (low.values, low.range_end, high.values, high.range_end) == (
        (15000,), "from", (20000,), "to",
    )  # fmt: skip
    assert [q.unit for q in find_quantities("€15-20")] == ["EUR", "EUR"]
    assert [q.values for q in find_quantities("5-10%")] == [(Fraction(1, 20),), (Fraction(1, 10),)]


SAME = Agreement.SAME
OTHER = Agreement.DIFFERENT


@pytest.mark.parametrize(
    ("claim", "evidence", "agreement"),
    [
        ("1,500 boxes", "1500 boxes", SAME),
        ("50 boxes", "1500 boxes", OTHER),
        ("5%", "5 %", SAME),
        ("5 %", "5 percentage points", Agreement.OTHER_UNIT),
        ("250 mg", "250 µg", Agreement.OTHER_UNIT),
        ("250 μg", "250 µg", SAME),
        ("0.25 mg", "250 µg", SAME),
        ("1.5 kg", "1500 g", SAME),
        ("90 minutes", "1 h 30 min", SAME),
        ("2 days", "48 hours", SAME),
        ("10 days", "10 working days", Agreement.OTHER_UNIT),
        ("10 lb", "10 kg", Agreement.OTHER_UNIT),
        ("€30", "$30", Agreement.OTHER_UNIT),
        ("30 euros", "€30", SAME),
        ("50 cents", "€0.50", SAME),
        ("4 million", "4 billion", OTHER),
        ("half", "50%", SAME),
        ("twenty-first", "21st", SAME),
        ("22nd", "21st", OTHER),
        ("21", "21st", OTHER),
        ("0.30 euros per km", "0.30 euros per mile", Agreement.OTHER_UNIT),
        ("12 May 2024", "2024-05-12", SAME),
        ("May 2024", "12. Mai 2024", SAME),
        ("12 May 2024", "May 2024", OTHER),
        ("5 December 2024", "12/05/2024", OTHER),
        ("12 May 2024", "12/05/2024", OTHER),
        ("2024", "12/05/2024", SAME),
        ("12/05/2024", "12/05/2024", SAME),
        ("13 May 2024", "13/05/2024", SAME),
        ("44 AD", "44 BC", OTHER),
        ("AD 44", "44 CE", SAME),
        ("5th century", "5th century BC", OTHER),
        ("section 3.1", "section 3.10", OTHER),
        ("Chapter IV", "Chapter 4", SAME),
        ("Chapter VI", "Chapter 4", OTHER),
        ("5 MB", "5 Mb", Agreement.OTHER_UNIT),
        ("2025", "2024/25", OTHER),
        ("13 May 2024", "12/05/2024", OTHER),
        ("1962", "12 May 1962", SAME),
        ("the 12th", "12 May 1962", SAME),
        ("10 pm", "22:00", SAME),
        ("10:00", "22:00", OTHER),
        ("22 Uhr", "22:00", SAME),
        ("14:00 UTC", "16:00 CEST", SAME),
        ("14:00 UTC", "14:00 CEST", OTHER),
        ("14:00 UTC", "14:00", Agreement.UNIT_ADDED),
        ("noon", "12:00", SAME),
        ("half past six", "18:30", SAME),
        ("half past six", "17:30", OTHER),
        ("more than 1,000", "1,200", Agreement.WEAKER),
        ("more than 1,300", "1,200", OTHER),
        ("about 1,500", "1,487", Agreement.WEAKER),
        ("less than 50", "47", Agreement.WEAKER),
        ("10⁵", "105", OTHER),
        ("1.2.3", "1.2.3", SAME),
        ("1.2.3", "1.2.4", OTHER),
    ],
)
def test_claim_against_evidence(claim, evidence, agreement):
    (first, *_), (second, *_) = (
        find_quantities(claim, language="en"),
        find_quantities(evidence, language="en"),
    )
    assert compare(first, second) is agreement


@pytest.mark.parametrize(
    "text",
    ["1" * 5000, "1," * 3000, "1 222 " * 2000, "-" * 5000, "one hundred " * 2000, "10^9^9^9"],
)
def test_hostile_numbers_are_read(text):
    for quantity in find_quantities(text):
        assert all(abs(value) < 10**120 for value in quantity.values)
