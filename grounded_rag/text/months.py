"""Names of months (English, German, French, Spanish) and of time zones."""

from __future__ import annotations

_MONTH_ROWS = """
january jan januar janvier jänner enero|february feb februar février febrero
march mar märz mars marzo|april apr avril abril|may mai mayo|june jun juni juin junio
july jul juli juillet julio|august aug août agosto
september sep sept septembre septiembre|october oct oktober okt octobre octubre
november nov novembre noviembre|december dec dezember dez décembre diciembre
"""
MONTHS = {
    name: number
    for number, row in enumerate(_MONTH_ROWS.replace("\n", "|").strip("|").split("|"), 1)
    for name in row.split()
}
ALONE_NEEDS_CONTEXT = frozenset("may march august mai".split())
# Abbreviations, and French months that are other English words, need a day or a year.
NEVER_ALONE = frozenset(
    "jan feb mar mars apr jun jul aug sep sept okt oct nov dez dec juin mayo".split()
)
ZONES = {
    "utc": 0, "gmt": 0, "z": 0, "wet": 0, "bst": 60, "cet": 60, "mez": 60, "cest": 120, "mesz": 120,
    "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480,
    "pdt": -420, "jst": 540,
}  # fmt: skip
"""Offset from UTC in minutes, by abbreviation."""
_SPELLED = "one two three four five six seven eight nine ten eleven twelve"
HOURS = {word: number for number, word in enumerate(_SPELLED.split(), 1)}
TIMES = frozenset("noon midday midnight mittag mitternacht half quarter".split())
"""Words with which a time of day can begin."""
