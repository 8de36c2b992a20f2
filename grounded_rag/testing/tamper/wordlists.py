"""Word lists of the fuzzer.

They are written for it alone and shared with nothing: a fuzzer that drew its changes from the
lists of the verifier would only test that the lists are equal to themselves.
"""

UNITS = (
    ("kg", "g"), ("kilograms", "grams"), ("km", "m"), ("kilometres", "metres"),
    ("kilometers", "meters"), ("miles", "kilometers"), ("mg", "µg"), ("ml", "l"), ("mm", "cm"),
    ("hours", "minutes"), ("hour", "minute"), ("minutes", "seconds"), ("days", "weeks"),
    ("day", "week"), ("weeks", "months"), ("week", "month"), ("months", "years"),
    ("month", "year"), ("year", "month"), ("years", "days"), ("GB", "MB"), ("MB", "kB"),
    ("bytes", "bits"), ("characters", "words"), ("°C", "°F"), ("feet", "inches"),
    ("acres", "hectares"), ("tons", "pounds"), ("tonnes", "kilograms"), ("watts", "volts"),
)  # fmt: skip
SCALES = (
    ("million", "billion"), ("billion", "million"), ("thousand", "million"),
    ("millions", "thousands"), ("thousands", "millions"), ("hundred", "thousand"),
    ("hundreds", "thousands"), ("trillion", "billion"), ("dozen", "hundred"), ("half", "third"),
    ("double", "triple"), ("twice", "three times"), ("quarter", "half"),
)  # fmt: skip
CURRENCIES = (
    ("€", "$"), ("$", "€"), ("£", "€"), ("¥", "$"), ("EUR", "USD"), ("USD", "EUR"),
    ("GBP", "EUR"), ("euros", "dollars"), ("euro", "dollar"), ("dollars", "euros"),
    ("dollar", "euro"), ("pounds", "euros"), ("cents", "pence"), ("US$", "A$"),
)  # fmt: skip
MONTHS = tuple(
    "January February March April May June July August September October November December".split()
)
WEEKDAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
ORDINALS = tuple("first second third fourth fifth sixth seventh eighth ninth tenth".split())
NUMBER_WORDS = tuple(
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty "
    "forty fifty sixty".split()
)
AUXILIARIES = tuple(
    "is are was were be been has have had can could may might must shall should will would do "
    "does did".split()
)
NEGATIONS = (" not", " never", " no", "n't", " neither", " without")
NEGATION_SWAPS = (("no", "some"), ("never", "always"), ("without", "with"), ("none", "all"))
COMPARATORS = (
    ("more than", "less than"), ("less than", "more than"), ("fewer than", "more than"),
    ("at least", "at most"), ("at most", "at least"), ("up to", "at least"),
    ("no more than", "no less than"), ("above", "below"), ("below", "above"),
    ("before", "after"), ("after", "before"), ("over", "under"), ("under", "over"),
    ("higher", "lower"), ("lower", "higher"), ("more", "less"), ("less", "more"),
    ("most", "least"), ("larger", "smaller"), ("smaller", "larger"), ("longer", "shorter"),
    ("earlier", "later"), ("later", "earlier"), ("until", "from"), ("greater", "smaller"),
    ("increased", "decreased"), ("decreased", "increased"), ("within", "after"),
    ("between", "outside"), ("best", "worst"), ("maximum", "minimum"), ("minimum", "maximum"),
)  # fmt: skip
MODALS = (
    ("may", "must"), ("must", "may"), ("can", "must"), ("should", "must"), ("shall", "may"),
    ("will", "might"), ("might", "will"), ("could", "will"), ("would", "will"),
    ("cannot", "can"), ("SHALL", "SHOULD"), ("SHOULD", "SHALL"), ("MAY", "SHALL"),
    ("MUST", "MAY"), ("usually", "always"), ("often", "always"), ("probably", "certainly"),
    ("possible", "certain"), ("likely", "certain"), ("required", "allowed"),
    ("optional", "mandatory"), ("recommended", "required"),
)  # fmt: skip
QUANTIFIERS = (
    ("all", "some"), ("some", "all"), ("every", "no"), ("each", "no"), ("any", "every"),
    ("many", "few"), ("few", "many"), ("most", "all"), ("several", "two"), ("both", "neither"),
    ("only", "also"), ("always", "sometimes"), ("sometimes", "always"), ("none", "all"),
    ("either", "both"), ("about", "exactly"), ("approximately", "exactly"), ("nearly", "exactly"),
    ("almost", "fully"), ("other", "all"),
)  # fmt: skip
SYNONYMS = (
    ("use", "utilise"), ("used", "utilised"), ("buy", "purchase"), ("begin", "start"),
    ("large", "big"), ("small", "little"), ("show", "display"), ("help", "assist"),
    ("people", "persons"), ("money", "funds"), ("also", "additionally"), ("get", "obtain"),
    ("such as", "like"), ("because", "since"), ("however", "but"), ("provide", "supply"),
    ("information", "data"), ("information", "details"), ("company", "firm"), ("began", "started"),
    ("called", "named"), ("made", "created"), ("city", "town"), ("important", "significant"),
    ("need", "require"), ("pay", "remit"), ("bank", "lender"), ("account", "profile"),
)  # fmt: skip
ADDED = tuple(
    "not only never usually annual former rarely partly main new reportedly former Northern "
    "approximately additional".split()
)
DANGLING = frozenset(
    "a an the of to in on at by for from with and or but nor as is are was were be been that "
    "this these those it its his her their our your my we you they he she which who whom".split()
)
"""Words that carry grammar rather than content: never the ones that are swapped."""

HOMOGLYPHS = {
    "a": "а", "e": "е", "o": "оο", "p": "р", "c": "с", "x": "х", "y": "у", "i": "і", "j": "ј",
    "s": "ѕ", "v": "ν", "A": "АΑ", "B": "ВΒ", "E": "ЕΕ", "H": "НΗ", "I": "ІΙ", "K": "КΚ",
    "M": "МΜ", "N": "Ν", "O": "ОΟ", "P": "РΡ", "T": "ТΤ", "X": "ХΧ", "Y": "Υ", "Z": "Ζ",
    "l": "Iı", "0": "О", "1": "l",
}  # fmt: skip
"""Letters of other scripts (and of this one) that look alike, by the letter they imitate."""

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
FRACTIONS = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅛": "1/8"}
OPERATORS = (
    ("<", ">"), (">", "<"), ("≤", "<"), ("≥", ">"), ("≤", "≥"), ("≠", "="), ("±", "+"),
    ("≈", "="), ("×", "+"), ("÷", "×"), ("≪", "<"), ("−", "+"), ("~", "="),
)  # fmt: skip
ACCENTS = {
    "a": "áàâäãå", "e": "éèêë", "i": "íìîï", "o": "óòôöõ", "u": "úùûü", "n": "ñ", "c": "ç",
    "A": "ÁÄ", "E": "ÉÈ", "O": "Ö", "U": "Ü",
}  # fmt: skip
OTHER_LETTERS = (
    ("ss", "ß"), ("o", "ø"), ("ae", "æ"), ("oe", "œ"), ("i", "ı"), ("d", "ð"), ("l", "ł"),
    ("s", "ſ"), ("th", "þ"), ("d", "đ"), ("K", "\N{LATIN CAPITAL LETTER K WITH HOOK}"),
)  # fmt: skip
"""Letters that some folds take for the plain ones on the left: German Maße is not Masse."""

LIGATURES = (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ"))
ENTITIES = (
    ("&", "&amp;"), ("£", "&pound;"), ("€", "&euro;"), ('"', "&quot;"), ("'", "&#39;"),
    ("’", "&rsquo;"), ("–", "&ndash;"), ("—", "&mdash;"), ("é", "&eacute;"), ("ü", "&uuml;"),
    ("“", "&ldquo;"), ("”", "&rdquo;"), ("§", "&sect;"), ("°", "&deg;"),
)  # fmt: skip
