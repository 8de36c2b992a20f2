"""False and true claims made from sentences of a corpus, which stay their literal quotes.

The quote stays as the source has it; the claim is the quote with one change. Each false class
makes the claim say something that the quote does not; each true class says the same otherwise.
Weaker claims ("some" for "all") are no false claims and are not made.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from grounded_rag.testing.tamper import words
from grounded_rag.testing.tamper import words as edits
from grounded_rag.testing.tamper.claim_values import Cited, ClaimKind, Made, Stream, rounds
from grounded_rag.testing.tamper.values import (
    Edit,
    EditMaker,
    Passage,
    Pools,
    Sentence,
    one_of,
    put,
    swap_listed,
)

STRONGER_QUANTITY = (
    ("some", "all"), ("most", "all"), ("many", "all"), ("several", "all"), ("a few", "all"),
    ("few", "many"), ("half", "all"), ("every", "no"), ("each", "no"), ("all", "no"),
    ("both", "neither"), ("usually", "always"), ("often", "always"), ("sometimes", "always"),
    ("normally", "always"), ("about", "exactly"), ("approximately", "exactly"),
    ("nearly", "fully"), ("almost", "entirely"), ("up to half", "all"), ("either", "both"),
    ("not all", "not any"), ("rarely", "often"), ("never", "sometimes"), ("always", "never"),
)  # fmt: skip
STRONGER_MODALITY = (
    ("may", "must"), ("can", "must"), ("should", "must"), ("might", "will"), ("could", "will"),
    ("may", "will"), ("can", "will always"), ("probably", "certainly"), ("likely", "certain"),
    ("recommended", "required"), ("optional", "mandatory"), ("expected to", "guaranteed to"),
    ("aim to", "guarantee to"), ("try to", "promise to"), ("plans to", "will"),
    ("is allowed to", "is obliged to"), ("are allowed to", "are obliged to"),
    ("it is possible to", "it is necessary to"),
)  # fmt: skip
LIMITS = (
    ("more than", "less than"), ("less than", "more than"), ("fewer than", "more than"),
    ("at least", "at most"), ("at most", "at least"), ("up to", "at least"), ("above", "below"),
    ("below", "above"), ("before", "after"), ("after", "before"), ("over", "under"),
    ("under", "over"), ("higher", "lower"), ("lower", "higher"), ("larger", "smaller"),
    ("smaller", "larger"), ("longer", "shorter"), ("shorter", "longer"), ("earlier", "later"),
    ("later", "earlier"), ("until", "from"), ("within", "after"), ("maximum", "minimum"),
    ("minimum", "maximum"), ("no more than", "no less than"), ("or more", "or less"),
    ("or less", "or more"), ("from", "up to"), ("not later than", "not earlier than"),
)  # fmt: skip
OPPOSITES = (
    ("open", "closed"), ("opened", "closed"), ("opens", "closes"), ("free", "chargeable"),
    ("accepted", "refused"), ("accept", "refuse"), ("accepts", "refuses"), ("included", "excluded"),
    ("include", "exclude"), ("includes", "excludes"), ("increase", "decrease"),
    ("increased", "reduced"), ("increases", "falls"), ("rise", "fall"), ("rises", "falls"),
    ("lower", "raise"), ("reduce", "increase"), ("reduced", "increased"), ("reduces", "increases"),
    ("valid", "invalid"), ("new", "old"), ("first", "last"), ("last", "first"),
    ("early", "late"), ("start", "end"), ("starts", "ends"), ("begins", "ends"), ("ends", "begins"),
    ("add", "remove"), ("added", "removed"), ("sent", "received"), ("receive", "send"),
    ("receives", "sends"), ("pay", "collect"), ("paid", "unpaid"), ("credited", "debited"),
    ("debited", "credited"), ("credit", "debit"), ("deposit", "withdrawal"),
    ("deposits", "withdrawals"), ("withdraw", "deposit"), ("withdrawal", "deposit"),
    ("withdrawals", "deposits"), ("lend", "borrow"), ("buy", "sell"), ("bought", "sold"),
    ("fixed", "variable"), ("variable", "fixed"), ("public", "private"), ("personal", "business"),
    ("business", "personal"), ("permanent", "temporary"), ("temporary", "permanent"),
    ("active", "dormant"), ("secure", "insecure"), ("safe", "unsafe"), ("possible", "impossible"),
    ("able", "unable"), ("available", "unavailable"), ("eligible", "ineligible"),
    ("allowed", "forbidden"), ("allow", "forbid"), ("allows", "forbids"),
    ("permitted", "prohibited"), ("approved", "rejected"), ("approve", "reject"),
    ("correct", "wrong"), ("true", "false"), ("same", "different"), ("large", "small"),
    ("small", "large"), ("long", "short"), ("short", "long"), ("high", "low"), ("low", "high"),
    ("full", "empty"), ("single", "double"), ("joint", "separate"), ("inside", "outside"),
    ("outside", "inside"), ("domestic", "foreign"), ("incoming", "outgoing"),
    ("outgoing", "incoming"), ("upper", "lower"), ("success", "failure"), ("succeeds", "fails"),
    ("win", "lose"), ("keep", "discard"), ("lock", "unlock"), ("locked", "unlocked"),
    ("blocked", "released"), ("block", "release"), ("freeze", "unfreeze"), ("frozen", "released"),
    ("online", "offline"), ("day", "night"), ("morning", "evening"), ("with", "without"),
    ("without", "with"), ("more", "less"), ("gross", "net"), ("net", "gross"),
    ("weekday", "weekend"), ("weekdays", "weekends"), ("automatically", "manually"),
    ("simple", "complicated"), ("strong", "weak"), ("quickly", "slowly"), ("daily", "yearly"),
    ("monthly", "yearly"), ("yearly", "monthly"), ("annual", "monthly"), ("weekly", "monthly"),
)  # fmt: skip
PARTIES = (
    ("we", "you"), ("us", "you"), ("our", "your"), ("the bank", "the customer"),
    ("the sender", "the recipient"), ("the buyer", "the seller"), ("the payer", "the payee"),
    ("the holder", "the issuer"), ("the employer", "the employee"), ("the lender", "the borrower"),
    ("the landlord", "the tenant"), ("the executor", "the bank"),
    ("the merchant", "the cardholder"),
    ("the branch", "the customer"), ("parents", "children"), ("the adviser", "the customer"),
)  # fmt: skip
ADJUNCTS = (
    " on request", " in Vienna", " without charge", " for one year", " on Sundays", " by post",
    " at every branch", " under European law", " with a signed form", " for students",
    " through the partner bank", " in cash", " during the summer holidays", " after an interview",
    " for members of staff", " with the approval of the board", " at the head office",
)  # fmt: skip
REASONS = (
    ", because the law requires it", " because the old system was replaced",
    ", since the regulator asked for it", " due to rising prices",
    " because customers had complained", " owing to a change of owner",
)  # fmt: skip
CLAUSES = (
    ", and a confirmation is sent by letter", ", and the fee is paid back later",
    ", which no other bank offers", ", and an appointment is needed",
    ", which was introduced last year", ", and interest is added",
    ", and customers are told by telephone",
)  # fmt: skip
SAME_MEANING = (
    ("use", "utilise"), ("buy", "purchase"), ("begins", "starts"), ("starts", "begins"),
    ("help", "assist"), ("get", "obtain"), ("need", "require"), ("also", "in addition"),
    ("because", "since"), ("per cent", "percent"), ("yearly", "annual"), ("a year", "per year"),
    ("a month", "per month"), ("every day", "daily"), ("cannot", "can not"), ("do not", "don't"),
    ("does not", "doesn't"), ("is not", "isn't"), ("are not", "aren't"), ("must not", "mustn't"),
    ("within", "inside of"), ("must", "have to"), ("allowed", "permitted"), ("end", "finish"),
    ("costs", "is charged at"), ("send", "dispatch"), ("tell", "inform"), ("ask", "request"),
    ("free of charge", "at no charge"), ("about", "approximately"), ("at least", "a minimum of"),
    ("up to", "at most"), ("if", "in case"), ("before", "prior to"),
)  # fmt: skip


_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|wird|Sie|nicht|mit|von|ein|eine)\b")
_STARTERS = frozenset(
    "The This That These Those From For Each Every Your You Our We It In On At By With If When "
    "Before After Until Was Was Das Der Die Ein Eine Ihrer Diese Please Dear And But Or".split()
)
_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]{2,}(?: (?:[A-Z][a-zà-ÿ]{2,}|\d+))*\b")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3},\d{3}(?![\d,])")
_SMALL = re.compile(r"(?<=[a-z] )([2-9]|1[0-2])(?= [a-z]{3,})")
_SPELLED = ("two three four five six seven eight nine ten eleven twelve").split()
_PERCENT = re.compile(r"(?<=\d)%")
_EURO = re.compile(r"€(\d[\d,]*(?:\.\d+)?)(?! (?:million|billion))\b")
_DATE = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(words.MONTHS)}) (\d{{4}})\b")

ClaimMaker: TypeAlias = Callable[[random.Random, Sentence, Pools], "str | None"]


def _edited(maker: ClaimMaker, *, true: bool = False) -> Stream:
    """Return the claims that an edit of whole sentences of the corpus gives."""

    def stream(rng: random.Random, pools: Pools) -> Iterator[Made]:
        for sentence in rounds(rng, pools.sentences):
            claim = maker(rng, sentence, pools) if _whole(sentence.text) else None
            if claim is not None and (true or claim not in sentence.passage.text):
                yield Made(claim, (Cited(sentence.passage, sentence.text),))

    return stream


def _whole(text: str) -> bool:
    """Whether a text reads as a sentence of its own: no second half of a wrapped one."""
    return text.endswith((".", "!", "?")) and text[0].isupper() and not _GERMAN.search(text)


def _by(*makers: EditMaker) -> Stream:
    """Return the claims of makers that are tried in a random order."""

    def make(rng: random.Random, sentence: Sentence, pools: Pools) -> str | None:
        for maker in rng.sample(makers, len(makers)):
            edit = maker(rng, sentence.text, pools)
            if edit is not None and edit.source == sentence.text and edit.quote != edit.source:
                return edit.quote
        return None

    return _edited(make)


def _listed(pairs: Sequence[tuple[str, str]]) -> EditMaker:
    def make(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
        return swap_listed(rng, text, pairs)

    return make


def _named(name: str) -> EditMaker:
    """The edit of a class of quotes, by its name."""
    kind = next(k for k in (*words.NUMBER_KINDS, *edits.WORD_KINDS) if k.name == name)

    def make(rng: random.Random, text: str, pools: Pools) -> Edit | None:
        bare = Sentence(text=text, passage=Passage(id="", source="", text=text), start=0)
        draw = kind.make(rng, bare, pools)
        return None if draw is None else Edit(draw.original, draw.quote)

    return make


def _name(rng: random.Random, text: str, pools: Pools) -> Edit | None:
    """Put another name of the corpus in the place of one inside the sentence."""
    known = {word for name in pools.names for word in name.split()} - _STARTERS
    inside = [
        m for m in _NAME.finditer(text)
        if m.start() > 0 and text[m.start() - 2] not in '.!?:"“' and m.group().split()[0] in known
        and not set(m.group().split()) & {*words.MONTHS, *words.WEEKDAYS}
    ]  # fmt: skip
    if not inside or not pools.names:
        return None
    found = rng.choice(inside)
    others = [n for n in rng.sample(pools.names, min(30, len(pools.names))) if n not in text]
    others = [
        n for n in others
        if found.group() not in n and not set(n.split()) & _STARTERS and len(n.split()) < 4
    ]  # fmt: skip
    return Edit(text, put(text, found, others[0])) if others else None


def _roles(rng: random.Random, text: str, pools: Pools) -> Edit | None:
    """Exchange who does it and to whom it is done."""
    for left, right in rng.sample(PARTIES, len(PARTIES)):
        pattern = re.compile(rf"\b(?:{left}|{right})\b", re.IGNORECASE)
        found = {m.group().lower() for m in pattern.finditer(text)}
        if len(found) < 2:
            continue

        def other(match: re.Match[str], left: str = left, right: str = right) -> str:
            word = right if match.group().lower() == left else left
            return word[0].upper() + word[1:] if match.start() == 0 else word

        return Edit(text, pattern.sub(other, text))
    known = {word for name in pools.names for word in name.split()} - _STARTERS
    names = [m for m in _NAME.finditer(text) if set(m.group().split()) <= known]
    if len(names) < 2 or names[0].group() in names[-1].group():
        return None
    first, last = names[0], names[-1]
    between = text[first.end() : last.start()].lower()
    if not re.search(r"\b(?:than|from|to|for|by|with|at|in)\b", between) or " and " in between:
        return None
    return Edit(
        text,
        text[: first.start()] + last.group() + text[first.end() : last.start()]
        + first.group() + text[last.end() :],
    )  # fmt: skip


def _at_end(pool: Sequence[str]) -> EditMaker:
    def make(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
        added = rng.choice(pool)
        if not text.endswith(".") or added.split()[-1] in text:
            return None
        return Edit(text, f"{text[:-1]}{added}.")

    return make


def _ungrouped(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _GROUPED, text)
    return None if found is None else Edit(text, put(text, found, found.group().replace(",", "")))


def _spelled(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _SMALL, text)
    if found is None:
        return None
    return Edit(text, put(text, found, _SPELLED[int(found.group()) - 2]))


def _percent(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _PERCENT, text)
    return None if found is None else Edit(text, put(text, found, rng.choice([" percent", " %"])))


def _euro(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _EURO, text)
    if found is None:
        return None
    forms = [f"EUR {found.group(1)}", f"{found.group(1)} euros", f"€ {found.group(1)}"]
    return Edit(text, put(text, found, rng.choice(forms)))


def _date(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _DATE, text)
    if found is None:
        return None
    day, month, year = found.groups()
    iso = f"{year}-{words.MONTHS.index(month) + 1:02d}-{int(day):02d}"
    return Edit(text, put(text, found, rng.choice([iso, f"{month} {day}, {year}"])))


def _copy(_rng: random.Random, sentence: Sentence, _pools: Pools) -> str:
    return sentence.text


FALSE: tuple[ClaimKind, ...] = (
    ClaimKind("number", False, "another number",
              _by(_named("digit"), _named("number_word"), _named("scale"))),
    ClaimKind("date", False, "another day, month, year or hour",
              _by(_named("date"), _named("time"))),
    ClaimKind("unit", False, "another unit, currency or kind of percent",
              _by(_named("unit"), _named("currency"), _named("percent"))),
    ClaimKind("name", False, "another name of the corpus", _by(_name)),
    ClaimKind("negation", False, "a negation comes or goes",
              _by(_named("negation_in"), _named("negation_out"))),
    ClaimKind("comparator", False, "more is less, at least is at most", _by(_listed(LIMITS))),
    ClaimKind("quantifier", False, "some is all", _by(_listed(STRONGER_QUANTITY))),
    ClaimKind("antonym", False, "open is closed", _by(_listed(OPPOSITES))),
    ClaimKind("modality", False, "may is must", _by(_listed(STRONGER_MODALITY))),
    ClaimKind("role", False, "who does it to whom is turned round", _by(_roles)),
    ClaimKind("added", False, "a place, reason or clause of its own",
              _by(_at_end(ADJUNCTS), _at_end(REASONS), _at_end(CLAUSES))),
)  # fmt: skip
"""Classes whose claims their literal quotes do not carry."""

TRUE: tuple[ClaimKind, ...] = (
    ClaimKind("copy", True, "the quote itself", _edited(_copy, true=True)),
    ClaimKind("notation", True, "numbers, dates and money written otherwise",
              _by(_ungrouped, _spelled, _percent, _euro, _date)),
    ClaimKind("same_meaning", True, "one word by one that means the same",
              _by(_listed(SAME_MEANING)), near=False),
)  # fmt: skip
"""Classes whose claims say what their quotes say."""
