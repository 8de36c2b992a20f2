"""Units, each with its base unit and exact factor; what is not convertible has a base of its own.

Conversions that round in practice (pounds to kilograms, miles to kilometres, Fahrenheit) are left
out on purpose: a text that converts them has changed its number.
"""

from __future__ import annotations

from fractions import Fraction

# base unit: factor name name …; names are compared exactly first, then in lower case.
_ROWS = """
g|1 g gram grams gramm gramme grammes|1000 kg kilo kilos kilogram kilograms kilogramme kilogramm
g|1/1000 mg milligram milligrams milligramm|1/1000000 μg mcg ug microgram micrograms mikrogramm
g|1000000 t tonne tonnes tonnen
m|1 m metre metres meter meters metern|1/100 cm centimetre centimetres centimeter centimeters
m|1/1000 mm millimetre millimetres millimeter millimeters|1/1000000 μm micron microns micrometer
m|1000 km kilometre kilometres kilometer kilometers kilometern|1/1000000000 nm nanometre nanometer
inch|1 inch inches|12 ft foot feet|36 yd yard yards|63360 mile miles mi
m²|1 m² m2 sqm qm|1000000 km² km2|10000 ha hectare hectares hektar|1/10000 cm² cm2
sqft|1 sqft
l|1 l litre litres liter liters litern|1/1000 ml millilitre millilitres milliliter milliliters
l|1/100 cl|1/10 dl|1000 m³ m3
gallon|1 gallon gallons gal|1/8 pint pints
lb|1 lb lbs|1/16 oz ounce ounces
s|1 s sec secs second seconds sekunde sekunden seconde secondes
s|1/1000 ms millisecond milliseconds millisekunden
s|60 min mins minute minutes minuten|3600 h hr hrs hour hours stunde stunden std heure heures
s|86400 day days tag tage tagen jour jours|604800 week weeks woche wochen semaine semaines
month|1 month months monat monate monaten mois|3 quarter quarters quartal quartale
month|12 year years jahr jahre jahren yr yrs ans année années|120 decade decades jahrzehnte
month|1200 century centuries jahrhundert jahrhunderte
night|1 night nights nacht nächte nuits
byte|1 byte bytes|1000 kb kilobyte kilobytes|1000000 mb megabyte megabytes
byte|1000000000 gb gigabyte gigabytes|1000000000000 tb terabyte terabytes
byte|1024 kib|1048576 mib|1073741824 gib|1099511627776 tib
bit|1 bit bits|1000 kbit|1000000 mbit|1000000000 gbit
bit/s|1 bps|1000 kbps|1000000 mbps|1000000000 gbps
W|1 W watt watts|1000 kW kilowatt kilowatts|1000000 MW megawatt megawatts|1000000000 GW
Wh|1 Wh|1000 kWh|1000000 MWh
V|1 V volt volts|1/1000 mV|1000 kV
A|1 A amp amps ampere|1/1000 mA
Ah|1 Ah|1/1000 mAh
Hz|1 Hz hertz|1000 kHz|1000000 MHz|1000000000 GHz
bar|1 bar|1/1000 mbar
Pa|1 Pa|100 hPa|1000 kPa|1000000 MPa
psi|1 psi
N|1 N newton newtons|1000 kN
Nm|1 Nm
J|1 J joule joules|1000 kJ
cal|1 cal calories calorie|1000 kcal
K|1 K kelvin
mol|1 mol|1/1000 mmol|1/1000000 μmol
dB|1 dB decibel decibels
lm|1 lm lumen lumens
lx|1 lx lux
rpm|1 rpm
ppm|1 ppm
km/h|1 kmh kph
mph|1 mph
px|1 px pixel pixels
%|1/100 % percent percentage prozent pct|1/1000 ‰
pp|1 pp pps percentage-point percentage-points prozentpunkt prozentpunkte
pp|1/100 bp bps basis-point basis-points
°C|1 °c celsius|
°F|1 °f fahrenheit
deg|1 ° degree degrees grad
EUR|1 € eur euro euros
USD|1 $ usd us$ dollar dollars
GBP|1 £ gbp
pound|1 pound pounds
AUD|1 a$ aud|
CAD|1 c$ ca$ cad
NZD|1 nz$ nzd
JPY|1 ¥ jpy yen
CNY|1 cny rmb yuan
INR|1 ₹ inr rupee rupees rs
CHF|1 chf sfr franken
SEK|1 sek
NOK|1 nok
DKK|1 dkk
PLN|1 zł pln
CZK|1 kč czk
RUB|1 ₽ rub
TRY|1 ₺
KRW|1 ₩ krw
ILS|1 ₪ ils
BRL|1 r$ brl
cent|1 cent cents ct
penny|1 pence penny p
"""


def _read() -> dict[str, tuple[str, Fraction]]:
    table: dict[str, tuple[str, Fraction]] = {}
    for line in _ROWS.strip().splitlines():
        base, *groups = line.split("|")
        for group in groups:
            names = group.split()
            for name in names[1:]:
                table[name] = (base, Fraction(names[0]))
    for kind in ("working", "business", "banking", "trading"):
        table[f"{kind}-day"] = table[f"{kind}-days"] = (f"{kind} day", Fraction(1))
    table["calendar-day"] = table["calendar-days"] = table["days"]
    table["werktage"] = table["werktagen"] = table["arbeitstage"] = table["working-days"]
    table["bankarbeitstage"] = table["bankarbeitstagen"] = table["banking-days"]
    table["percentage-points"] = ("pp", Fraction(1))
    return table


_UNITS = _read()
# One letter is a unit only in its own case: "A" and "a" are words, "K" and "k" are different.
_CASED = frozenset("A V W N J K m g l h s t p".split())
_PAIRS = {
    ("percentage", "point"), ("percentage", "points"), ("basis", "point"), ("basis", "points"),
    ("working", "day"), ("working", "days"), ("business", "day"), ("business", "days"),
    ("banking", "day"), ("banking", "days"), ("calendar", "day"), ("calendar", "days"),
    ("trading", "day"), ("trading", "days"), ("us", "dollars"), ("us", "dollar"),
    ("pounds", "sterling"), ("per", "cent"),
}  # fmt: skip
_CURRENCIES = frozenset(
    "EUR USD GBP AUD CAD NZD JPY CNY INR CHF SEK NOK DKK PLN CZK RUB TRY KRW ILS BRL pound".split()
)


def lookup(name: str) -> tuple[str, Fraction] | None:
    """Return base unit and factor of a unit name or sign, or None.

    Args:
        name: As written; a pair such as "working days" with a hyphen between.
    """
    if name in _UNITS:
        return _UNITS[name]
    if len(name) == 1 and name in _CASED:
        return None
    lower = name.lower()
    if len(lower) == 1 and lower.isalpha() and lower.isascii() and lower != name:
        return None
    return _UNITS.get(lower)


def pair(first: str, second: str) -> str | None:
    """Return the name of a unit of two words, or None."""
    if (first, second) not in _PAIRS:
        return None
    special = {("per", "cent"): "percent", ("us", "dollars"): "usd", ("us", "dollar"): "usd",
               ("pounds", "sterling"): "gbp"}  # fmt: skip
    return special.get((first, second), f"{first}-{second}")


def factor(name: str) -> Fraction:
    """Return the factor of a unit name to its base unit, 1 for unknown names."""
    found = lookup(name)
    return found[1] if found else Fraction(1)


def is_currency(base: str) -> bool:
    """Whether a base unit is money."""
    return base in _CURRENCIES
