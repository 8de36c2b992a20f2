"""Further inputs of every kind of quote: what folds, what never does, and why it is refused."""

import pytest

from grounded_rag import Fold, Reason, verify

REPAIRED = [
    # white space and line wraps
    ("Le bail dure\n  neuf\tans. Il peut finir.", "bail dure neuf ans", "bail dure\n  neuf\tans"),
    ("定員は\n24名です。入場は無料。", "定員は24名です。", "定員は\n24名です。"),
    ("It opens\r\nat nine each day.", "It opens\nat nine", "It opens\r\nat nine"),
    ("A\u2028line and\u3000more words", "A line and more", "A\u2028line and\u3000more"),
    # line-end hyphens, both joins
    (
        "Die Kündi-\ngungsfrist beträgt sechs Wochen",
        "Kündigungsfrist beträgt",
        "Kündi-\ngungsfrist beträgt",
    ),
    ("a well-\nknown brand of tea", "a well-known brand", "a well-\nknown brand"),
    ("Trains run 10-\n15 times an hour", "run 10-15 times an hour", "run 10-\n15 times an hour"),
    ("the pre-\nand post-war years end", "the pre- and post-war years", None),
    ("the approxi\u2010\nmately six hours", "the approximately six hours", None),
    ("Ver\u00ad\nsand am Montag früh", "Versand am Montag", None),
    ("unless both-to-\nsign was agreed", "unless both-to-sign was agreed", None),
    ("unless both-\nto-\nsign, so", "unless both-to-sign, so", None),
    ("shipping in the 20th-\r\ncentury way", "shipping in the 20th-century way", None),
    ("mail desk@post-\noffice.example now", "mail desk@post-office.example now", None),
    ("tables relea-\nsed by the bank", "tables released by the bank", None),
    # a line with pipes is prose until its neighbour is a row too
    ("Home | News | Desk of\nthe bank is open", "Home | News | Desk of the bank is open", None),
    # invisible characters
    ("The of\u200bfice is o\u00adpen now", "The office is open", None),
    ("\ufeffThe rate\u2060 is fixed now", "The rate is fixed", "The rate\u2060 is fixed"),
    ("Careful \u26a0\ufe0f wet floor here", "Careful \u26a0 wet floor", None),
    ("\u2067مرحبا\u2069 بكم \u200eA4\u200e هنا", "مرحبا\u2069 بكم A4 هنا", None),
    # ligatures and presentation forms
    ("The e\ufb03cient \ufb02ow is \ufb01ne", "efficient flow is fine", None),
    ("شروط \ufefb\ufe97\ufed8\ufe92\ufede هنا كلها", "شروط لاتقبل هنا كلها", None),
    ("Het \u0133s is heel koud", "Het ijs is heel koud", None),
    # typographic punctuation
    ("Er sagte »sofort« – nicht später", 'Er sagte "sofort" - nicht später', None),
    ("wait… then go on", "wait... then go on", "wait… then go on"),
    ("l’article dit «oui» au texte", 'l\'article dit "oui" au texte', None),
    ("one word---another word follows", "one word—another word follows", None),
    ("It is −5 degrees outside", "It is -5 degrees outside", None),
    ("It is –5 degrees outside", "It is -5 degrees outside", None),
    # Markdown
    ("Pay `within` ***ten*** days now", "Pay within ten days", "Pay `within` ***ten*** days"),
    ("see [the sheet](https://a.example/b?c=1) now", "see the sheet now", None),
    ("支払いは**十日以内**です。", "支払いは十日以内です。", None),
    ("**within\n10 days** of the _return scan_ only", "within 10 days of the return scan", None),
    # HTML entities
    ("caf&eacute; &ndash; &#8364;5 &amp; up", "café - €5 & up", None),
    ("more&nbsp;than&nbsp;&nbsp;two &quot;of&quot; them", 'more than two "of" them', None),
    ("it&#x2019;s 5 &lt; 6 here", "it's 5 < 6 here", None),
    # Unicode forms
    ("\u1112\u1161\u11ab\u1100\u116e\u11a8 여행 안내", "한국 여행 안내", None),
    ("Vie\u0323\u0302t Nam la\u0300 nhất", "Việt Nam là nhất", None),
    ("Ｎｏ．１２ルームは５階", "No.12ルームは5階", None),
    ("ﾊﾟｽﾎﾟｰﾄは必要です。", "パスポートは必要です。", None),
    ("dose of 250 \u00b5g daily", "dose of 250 \u03bcg daily", None),
    ("at 20 \u2103 in summer", "at 20 °C in summer", None),
    # edges
    ("if so, the lift must stop", "The lift must stop", "the lift must stop"),
    ("The lift must stop. Then", "the lift must stop.", "The lift must stop."),
    ("we say the doors stay open and", "“The doors stay open.”", "the doors stay open"),
    ("営業は九時からです", "「営業は九時からです。」", "営業は九時からです"),
    # table rows
    ("| Plan | GB |\n|--|--|\n| Plus | 50 GB |", "Plus 50 GB", "Plus | 50 GB"),
    ("Plan\tPrice\nBasic\t4 EUR\nPlus\t9 EUR", "Basic 4 EUR", "Basic\t4 EUR"),
    ("| A | B |\n|--|--|\n|  x1  |y2|", "| x1 | y2 |", "x1  |y2"),
]

REFUSED = [
    # numbers and signs
    ("vents at 3.14 bar today", "vents at 314 bar today", Reason.NEAR_MISS),
    ("vents at 3.14 bar today", "vents at 3.1 bar today", Reason.NEAR_MISS),
    ("It holds 10⁵ cells per vial", "It holds 105 cells per vial", Reason.NEAR_MISS),
    ("It was ½ full at the start", "It was 1/2 full at the start", Reason.NEAR_MISS),
    ("the area is 5 m² of floor", "the area is 5 m2 of floor", Reason.NEAR_MISS),
    ("it was -5 degrees at night", "it was 5 degrees at night", Reason.NEAR_MISS),
    ("the cost—5 euros—is low now", "the cost -5 euros-is low now", None),
    ("pages 10-\n15 are missing here", "pages 1015 are missing here", Reason.NEAR_MISS),
    ("take 2*3*4 of those today", "take 234 of those today", Reason.NEAR_MISS),
    ("set MAX_SIZE_MB to ten there", "set MAXSIZEMB to ten there", Reason.NEAR_MISS),
    ("2\u20623 of them are here", "23 of them are here", None),
    # words
    ("Staff must re-sign the log soon", "Staff must resign the log soon", Reason.NEAR_MISS),
    ("Staff must re-\nsign the log", "Staff must resign the log", Reason.NEAR_MISS),
    ("Staff must re-\nsign it, as they re-sign all", "Staff must resign it", None),
    ("Members CAN go in at noon", "Members can go in at noon", Reason.NEAR_MISS),
    ("The US pays for it all", "the uS pays for it all", None),
    ("Polish it", "polish it", None),
    ("the раураl account is open", "the paypal account is open", Reason.NEAR_MISS),
    ("Guests are not permitted to smoke", "Guests are permitted to smoke", Reason.NEAR_MISS),
    ("does not accept any pets here", "does now accept any pets here", Reason.NEAR_MISS),
    ("~~10~~ 25 euros are due today", "10 25 euros are due today", None),
    ("نامه\u200cای از او رسید", "نامهای از او رسید", None),
    # ellipsis
    ("the keeper is not allowed to sell", "the keeper is … allowed to sell", Reason.ELLIPSIS_JOIN),
    ("管理人は売ることができない", "管理人は…できない", Reason.ELLIPSIS_JOIN),
    ("It opens at nine on weekdays", "It opens [...] on weekdays", Reason.ELLIPSIS_JOIN),
    # stitched, reversed, rows joined
    (
        "The red line runs hourly. The blue line runs every ten minutes on match days.",
        "The red line runs every ten minutes on match days",
        Reason.STITCHED,
    ),
    (
        "Members enter free. Guests who are late wait in the hall until the first break.",
        "wait in the hall until the first break Members enter free",
        Reason.STITCHED,
    ),
    ("| Basic | 10 GB | 4 EUR |\n| Plus | 50 GB | 9 EUR |", "4 EUR Plus", None),
    ("| Basic | 10 GB | 4 EUR |\n| Plus | 50 GB | 9 EUR |", "Basic 10 GB 9 EUR", None),
    ("Plan\tPrice\nBasic\t4 EUR\nPlus\t9 EUR", "4 EUR Plus", None),
    ("it has 10 GB and 4 EUR", "10 GB | and 4 EUR", None),
    # cells that the source does not have
    (
        "| Room | Price |\n|---|---|\n| Single | 80 EUR breakfast |",
        "| Single | 80 EUR | breakfast |",
        Reason.NEAR_MISS,
    ),
    # unreadable sources
    ("The \ufffdnal inspection is on day 40", "The final inspection is on day 40", "damage"),
    ("The \ue001ow rate is 5 litres now", "The flow rate is 5 litres now", "damage"),
    ("The of\x00ce opens at nine today", "The office opens at nine today", "damage"),
    # not there at all
    ("Unser Büro schließt mittags.", "Our office closes at noon", Reason.QUOTE_NOT_FOUND),
    ("Our desk closes at noon.", "Nothing of the kind stands here", Reason.QUOTE_NOT_FOUND),
    ("", "anything", Reason.EMPTY_CHUNK),
    ("Rates rise.", " \u200b\n", Reason.EMPTY_QUOTE),
    ("Rates rise.", "", Reason.EMPTY_QUOTE),
]

CUT = [
    ("sold 1500 boxes in May", "500 boxes in May"),
    ("sold 1,500 boxes in May", "500 boxes in May"),
    ("sold 1.500 boxes in May", "500 boxes in May"),
    ("sold 1'500 boxes in May", "500 boxes in May"),
    ("pressure of 3.14 bar", "pressure of 3"),
    ("pressure of 3.14 bar", "pressure of 3."),
    ("it is -5 degrees here", "5 degrees here"),
    ("it is −5 degrees here", "5 degrees here"),
    ("holds 10⁵ cells", "holds 10"),
    ("the rate is 4% now", "the rate is 4"),
    ("the rate is 4％ now", "the rate is 4"),
    ("pay €5 per head", "5 per head"),
    ("pay 5€ per head", "pay 5"),
    ("less than <5 mg daily", "5 mg daily"),
    ("open 08:30 to noon", "open 08"),
    ("on 2024-05-01 it ends", "on 2024"),
    ("from 10–15 euros", "15 euros"),
    ("use ½1/2 cup", "2 cup"),
    ("You can't smoke here", "You can"),
    ("You can’t smoke here", "You can"),
    ("Staff re-sign the log", "sign the log"),
    ("Model QX-2 weighs", "Model QX"),
    ("approxi-\nmately six hours", "mately six hours"),
    ("Ver\u00adsand am Montag", "sand am Montag"),
    ("the cafe\u0301 is open", "the cafe"),
    ("the unable man", "able man"),
    ("rated AA+ by all", "rated AA"),
    ("aged 18+ only", "aged 18"),
    ("written in C# today", "written in C"),
    ("by a 👩\u200d🔬 today", "by a 👩"),
    ("wave 👋🏽 now", "wave 👋"),
    ("사용이 불가능 합니다", "가능 합니다"),
    ("料金は一百五十元です", "五十元です"),
    ("売上は24万円です", "売上は24"),
    ("日付は２０２４年", "２４年"),
    ("costs &pound;40 each", "40 each"),
    ("Une caf&eacute;tière neuve", "Une caf"),
    ("देश की नीति", "श की नीति"),
]

WHOLE = [
    ("the notice—in writing—counts", "in writing"),
    ("Selon l'article 5 du code", "article 5 du code"),
    ("the rate is 5 % now", "the rate is 5"),
    ("the fee¹ is due", "the fee"),
    ("see (annex 2) now", "annex 2"),
    ("<b>5 euros</b> each", "5 euros"),
    ("不可以在这里吸烟", "在这里吸烟"),
    ("定員は24名です", "24名"),
    ("서울은 좋다", "서울"),
    ("*return scan* is done", "return scan"),
    ("the pre-\nand post-war years", "and post-war years"),
    ("one/two three", "one"),
    ("tenants’ rights", "rights"),
    ("Die Katze läuft", "Katze läuft"),
]


def check(text, quote):
    """Check the first citation of a claim that repeats its quote."""
    draft = {"claims": [{"text": quote or "It is.", "chunk_id": "c", "quote": quote}]}
    return verify(draft, [{"id": "c", "text": text}], checks=()).claims[0].citations[0]


@pytest.mark.parametrize(("text", "quote", "expected"), REPAIRED)
def test_presentation_is_bridged_and_the_sources_own_characters_served(text, quote, expected):
    found = check(text, quote)
    assert found.problem in (None, Reason.QUOTE_TOO_SHORT), found
    located = found.located
    assert located is not None, found
    assert located.folds
    assert located.quote == located.chunk_span.of(text)
    if expected is not None:
        assert located.quote == expected
    else:
        assert text.startswith(located.quote[:3], located.chunk_span.start)
        assert len(located.quote) >= len(text) - 12


@pytest.mark.parametrize(("text", "quote", "reason"), REFUSED)
def test_meaning_is_never_bridged(text, quote, reason):
    found = check(text, quote)
    assert found.located is None
    assert found.problem is not None
    expected = Reason.UNREADABLE_SOURCE if reason == "damage" else reason
    if expected is not None:
        assert found.problem is expected, found.detail
    assert found.detail
    if found.nearest is not None:
        assert found.nearest in text


@pytest.mark.parametrize(("text", "quote"), CUT)
def test_a_quote_never_cuts_a_word_or_number(text, quote):
    assert quote in text
    found = check(text, quote)
    assert found.located is None
    assert found.problem is Reason.CUT_WORD, found.detail


@pytest.mark.parametrize(("text", "quote"), WHOLE)
def test_a_quote_may_end_where_no_token_is_cut(text, quote):
    located = check(text, quote).located
    assert located is not None
    assert located.quote == quote
    assert located.exact


def test_only_the_folds_inside_the_match_are_recorded():
    found = check("“Old” rules:\nthe ﬁne is\ndue now", "the fine is due now")
    assert found.located.folds == (Fold.WHITESPACE, Fold.LIGATURE)
    same = check("“a” long\nnight here", "“a” long night here")
    assert same.located.folds == (Fold.WHITESPACE,)
