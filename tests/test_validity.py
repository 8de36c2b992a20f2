import datetime as dt

import pytest

from grounded_rag.errors import ManifestError
from grounded_rag.types import FlagKind, Validity
from grounded_rag.validity import current, parse_instant, resolve, staleness

D = dt.date


def kinds(validity: Validity, as_of: object, **options: object) -> list[FlagKind]:
    return [f.kind for f in staleness(validity, as_of=as_of, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-06-30", D(2026, 6, 30)),
        ("2026/6/30", D(2026, 6, 30)),
        ("30 June 2026", D(2026, 6, 30)),
        ("Jun 30, 2026", D(2026, 6, 30)),
        ("13/04/2026", D(2026, 4, 13)),
        ("04/13/2026", D(2026, 4, 13)),
        ("05/05/2026", D(2026, 5, 5)),
        ("", None),
        ("  ", None),
        (None, None),
        (D(2026, 1, 2), D(2026, 1, 2)),
        ("2026-06-30T10:00:00", dt.datetime(2026, 6, 30, 10, tzinfo=dt.UTC)),
        ("2026-06-30T10:00:00Z", dt.datetime(2026, 6, 30, 10, tzinfo=dt.UTC)),
        (dt.datetime(2026, 6, 30, 10), dt.datetime(2026, 6, 30, 10, tzinfo=dt.UTC)),  # noqa: DTZ001
    ],
)
def test_dates_that_can_be_read_in_one_way_are_read(text, expected):
    assert parse_instant(text) == expected


@pytest.mark.parametrize(
    "text",
    ["03/04/2026", "2026-13-01", "soon", "20260430", "2026", 7, "30 Juny 2026", "2026-02-30"],
)
def test_other_dates_are_refused_with_the_next_step(text):
    with pytest.raises(ManifestError) as error:
        parse_instant(text)
    assert "Write" in error.value.hint


def test_a_date_includes_its_whole_day():
    validity = Validity(valid_until=D(2026, 6, 30))
    assert kinds(validity, dt.datetime(2026, 6, 30, 23, 59, tzinfo=dt.UTC)) == []
    assert kinds(validity, dt.datetime(2026, 7, 1, 0, 0, tzinfo=dt.UTC)) == [FlagKind.EXPIRED]
    assert kinds(validity, D(2026, 6, 30)) == []


def test_an_offset_counts():
    zone = dt.timezone(dt.timedelta(hours=-5))
    validity = Validity(valid_until=dt.datetime(2026, 6, 30, 23, 30, tzinfo=zone))
    assert kinds(validity, dt.datetime(2026, 7, 1, 2, 0, tzinfo=dt.UTC)) == []
    assert kinds(validity, dt.datetime(2026, 7, 1, 5, 0, tzinfo=dt.UTC)) == [FlagKind.EXPIRED]


def test_supersession_begins_with_its_date():
    validity = Validity(superseded_by="v2", superseded_on=D(2026, 3, 1))
    assert kinds(validity, D(2026, 2, 28)) == []
    assert kinds(validity, D(2026, 3, 1)) == [FlagKind.SUPERSEDED]
    assert staleness(validity, as_of=D(2026, 3, 1))[0].related == ("v2",)


def test_supersession_without_a_date_takes_the_start_of_the_successor_or_holds_at_once():
    validity = Validity(superseded_by="v2")
    assert kinds(validity, D(2000, 1, 1)) == [FlagKind.SUPERSEDED]
    resolved = resolve(validity, successor=Validity(effective_from=D(2026, 3, 1)))
    assert kinds(resolved, D(2026, 2, 28)) == []
    assert resolve(validity, successor=None) == validity


def test_future_undated_and_old_are_told_apart():
    assert kinds(Validity(effective_from=D(2027, 1, 1)), D(2026, 1, 1)) == [
        FlagKind.NOT_YET_EFFECTIVE
    ]
    assert kinds(Validity(), D(2026, 1, 1)) == [FlagKind.UNDATED]
    year = dt.timedelta(days=365)
    old = Validity(effective_from=D(2020, 1, 1))
    assert kinds(old, D(2026, 1, 1), max_age=year) == [FlagKind.TOO_OLD]
    reviewed = old.model_copy(update={"reviewed_on": D(2025, 12, 1)})
    assert kinds(reviewed, D(2026, 1, 1), max_age=year) == []
    just = old.model_copy(update={"reviewed_on": D(2025, 1, 1)})
    assert kinds(just, D(2026, 1, 1), max_age=year) == []
    assert kinds(just, D(2026, 1, 2), max_age=year) == [FlagKind.TOO_OLD]
    assert kinds(Validity(valid_until=D(2030, 1, 1)), D(2026, 1, 1), max_age=year) == [
        FlagKind.UNDATED
    ]


def test_a_source_may_be_as_old_as_the_limit_and_no_day_older():
    year = dt.timedelta(days=365)
    reviewed = Validity(reviewed_on=D(2025, 1, 1))
    assert kinds(reviewed, D(2026, 1, 1), max_age=year) == []
    assert kinds(reviewed, D(2026, 1, 2), max_age=year) == [FlagKind.TOO_OLD]


def test_a_review_that_is_still_to_come_makes_no_source_younger():
    year = dt.timedelta(days=365)
    planned = Validity(effective_from=D(2020, 1, 1), reviewed_on=D(2026, 6, 1))
    assert kinds(planned, D(2026, 1, 1), max_age=year) == [FlagKind.TOO_OLD]
    unknown = Validity(reviewed_on=D(2026, 6, 1))
    assert kinds(unknown, D(2026, 1, 1), max_age=year) == [FlagKind.UNDATED]
    assert kinds(unknown, D(2026, 6, 1), max_age=year) == []


def test_undated_counts_as_current_and_expired_does_not():
    assert current(Validity(), as_of=D(2026, 1, 1))
    assert not current(Validity(valid_until=D(2025, 1, 1)), as_of=D(2026, 1, 1))


def test_extreme_dates_do_not_overflow():
    extreme = Validity(effective_from=dt.date.min, valid_until=dt.date.max)
    assert kinds(extreme, D(2026, 1, 1)) == []


@pytest.mark.parametrize(
    "text",
    ["9999-12-31T23:59:59.9999999", "9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00"],
)
def test_never_as_a_moment_does_not_overflow(text):
    moment = parse_instant(text)
    assert kinds(Validity(valid_until=moment), D(9999, 12, 30)) in ([], [FlagKind.EXPIRED])
    assert current(Validity(effective_from=D(2000, 1, 1)), as_of=moment) == (moment.year > 2000)
