"""Word lists for false claims; like those of `wordlists`, written for the fuzzer alone."""

from __future__ import annotations

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
