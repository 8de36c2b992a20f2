"""From a quote to the statements it stands in: what a source says there, whole.

Evidence is the statement, whatever part of it a quote picks out. A claim that is cut out of a
sentence, joined from two, or freed of the line that leads into it or of the sentence that takes it
back is then seen to differ, in any language: nothing has to be known about what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from grounded_rag.text.sentences import LineKind, ends_unsurely, listed
from grounded_rag.text.words import STOPWORDS, guess_language
from grounded_rag.types import Span, Statement
from grounded_rag.verification.layout import BLANK, CLOSERS, STOPS, TEXTUAL, Layout
from grounded_rag.verification.neighbours import (
    announces,
    depends,
    heading_denies,
    is_neutral,
    restricts,
    unasserted,
)
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.wording import (
    Row,
    clean_wording,
    row_at,
    without_marks,
    without_number,
)

_LEADS = (":", "：")
_QUESTION = ("?", "？", "؟", "\u037e", "⁇", "⁈", "⁉")
_QUOTES = '"“”„«»'
# A mark of inches is no quotation mark.
_QUOTE = re.compile(r"(?<!\d)\"|[“”„«»]")
_PAIRS = (("(", ")"), ("「", "」"), ("『", "』"), ("（", "）"))
_JOINED = 4
_RESTRICTIONS = 3
_ANTECEDENTS = 2
_LEADS_UP = 4
_LOOK = 40
# An index of our own cuts inside a sentence only where it is longer than a chunk.
_CUT_ABOVE = 400
_FEW_WORDS = 3
_MARK = re.compile(r"\s*(?:[-*+•‣◦▪●○·–>]|\(?[0-9A-Za-z]{1,3}[.)])?\s*")
_GAP = re.compile(r"\[\s*(?:\.\.\.|…)\s*\]|\(\s*(?:\.\.\.|…)\s*\)")
_GAP_AT_END = re.compile(r"(?<=[.!?…。！？])\s*[\[(]\s*(?:\.\.\.|…)\s*[\])]\s*\Z")


class Found(NamedTuple):
    """A statement with what the comparison with a claim needs of it.

    Attributes:
        statement: The statement.
        core: Its own sentence, item or row, as it reads.
        antecedent: The sentences before it that say what its pronouns mean, as they read, or "".
        alone: Whether `core` is all there is apart from `antecedent`.
        row: The table row, where it is one.
        definition: Whether the sentence begins with an emphasised term and a dash.
        mark: The bullet or number in front of it, as it stands there, or "".
    """

    statement: Statement
    core: str
    antecedent: str
    alone: bool
    row: Row | None
    definition: bool
    mark: str = ""


def statements_at(passage: Passage, start: int, end: int) -> tuple[Found, ...]:
    """Return the statements that a range of a passage's text touches, in reading order.

    Args:
        passage: The passage.
        start: First code point of the quote.
        end: One past its last.
    """
    layout = passage.layout
    found: list[Found] = []
    done = -1
    touched = layout.touched(start, end)
    for place in touched:
        sentence = layout.at(place)
        if sentence.kind in (LineKind.DELIMITER, LineKind.RULE) or sentence.start < done:
            continue
        if sentence.kind is LineKind.HEADING or passage.is_heading(sentence.start, sentence.end):
            continue
        items = _items_led(layout, place)
        quoted = sum(each in touched for each in items)
        if quoted and not (quoted == len(items) and _is_flat(layout, items)):
            # Each of the items that are quoted brings the line along.
            continue
        made = _statement(passage, layout, place)
        found.append(made)
        done = layout.at(items[0]).start if items else made.statement.span.end
    return tuple(found)


def _statement(passage: Passage, layout: Layout, place: tuple[int, int]) -> Found:
    key = layout.at(place).start
    made = passage.statements.get(key)
    if made is None:
        sentence = layout.at(place)
        if sentence.kind is LineKind.ROW:
            made = _row(passage, layout, place)
        else:
            made = _prose(passage, layout, place)
        passage.statements[key] = made
    return made


def _row(passage: Passage, layout: Layout, place: tuple[int, int]) -> Found:
    sentence = layout.at(place)
    row = row_at(passage, layout.text, sentence.start, sentence.end)
    headings = _headings(passage, layout, place)
    before, after = _around_table(passage, layout, place)
    told = [_introducing(clean_wording(_of(layout, each))) for each in before]
    # The name of the first column says what its cells are, and is not told with them.
    denial = _denial((*headings, *row.header[:1]))
    told = [*([denial] if denial and denial not in told else []), *told]
    reading = row.reading()
    parts = [*told, reading, *(clean_wording(_of(layout, each)) for each in after)]
    spans = [(layout.at(p).start, layout.at(p).end) for p in (*before, place, *after)]
    statement = Statement.trusted(
        text=" ".join(parts),
        chunk_id=passage.id,
        span=_span(sentence.start, sentence.end),
        quotes=_merged(layout.text, spans),
        headings=headings,
        whole=bool(row.header),
        asserted=not unasserted(layout.text, sentence.start, sentence.end),
        cells=tuple(zip(row.header, row.cells, strict=False)),
    )
    alone = not (told or after)
    return Found(statement, reading, "", alone=alone, row=row, definition=False)


def _around_table(
    passage: Passage, layout: Layout, place: tuple[int, int]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the line that leads into the table of a row, and what takes it back behind it."""
    rows = (LineKind.ROW, LineKind.DELIMITER)
    before: tuple[int, int] | None = place
    while before is not None and layout.at(before).kind in rows:
        before = layout.before(before)
    leads = []
    if before is not None and layout.at(before).kind in TEXTUAL:
        said = _of(layout, before)
        line = layout.at(before)
        heading = passage.is_heading(line.start, line.end)
        title = not said.rstrip(CLOSERS).endswith(tuple(STOPS)) and heading_denies(said)
        if not heading and (title or _leads_in(said)) and not is_neutral(said):
            leads = [before]
    after: tuple[int, int] | None = place
    while after is not None and layout.at(after).kind in rows:
        after = layout.after(after)
    takes_back = []
    if after is not None and layout.at(after).kind in TEXTUAL:
        line = layout.at(after)
        behind = clean_wording(_of(layout, after))
        if not passage.is_heading(line.start, line.end) and restricts(behind, apart=True):
            takes_back = [after]
    return leads, takes_back


def _prose(passage: Passage, layout: Layout, place: tuple[int, int]) -> Found:
    text = layout.text
    first, last = _longer_reading(layout, place)
    start, end = layout.at(first).start, layout.at(last).end
    gap = _GAP_AT_END.search(text, start, end)
    end = end if gap is None else gap.start()
    sentence = layout.at(first)
    numbered = _worded(layout, first)[0]
    begin = passage.behind_heading(numbered, end)
    items = _items_led(layout, last)
    worded = [(begin, end), *(_worded(layout, p) for p in items)]
    core = clean_wording(text[begin:end])
    if items or sentence.kind is LineKind.ITEM:
        core = listed([core, *(clean_wording(text[a:b]) for a, b in worded[1:])])
    last = items[-1] if items else last
    question, lead = _what_leads(layout, first)
    # What is led into by a line of its own needs nothing else in front of it.
    antecedents = [] if lead or question else _antecedents(passage, layout, first, core)
    restrictions = _restrictions(passage, layout, first, last, core)
    headings = _headings(passage, layout, first)
    if question and not _needs_question(passage, layout, question[0], first, core):
        headings = (*headings, clean_wording(_of(layout, question[0])))
        question = []
    spans = [_worded(layout, p) for p in (*lead, *question, *antecedents)]
    ahead = len(spans)
    spans += [*worded, *(_worded(layout, p) for p in restrictions)]
    before = [clean_wording(text[a:b]) for a, b in spans[:ahead]]
    before[: len(lead)] = [_introducing(line) for line in before[: len(lead)]]
    denial = _denial(headings)
    parts = [*([denial] if denial and denial not in before else []), *before, core]
    parts += [clean_wording(text[a:b]) for a, b in spans[ahead + len(worded) :]]
    antecedent = " ".join(clean_wording(_of(layout, p)) for p in antecedents)
    statement = Statement.trusted(
        text=" ".join(parts),
        chunk_id=passage.id,
        span=_span(begin, worded[-1][1]),
        quotes=_merged(text, spans),
        headings=headings,
        whole=_is_whole(passage, layout, first, last, antecedents, lead, core)
        and _is_flat(layout, items),
        asserted=not (
            any(_asks(text[a:b]) for a, b in worded)
            or unasserted(text, sentence.unit, end, begin)
            or any(unasserted(text, i.unit, i.end, i.start) for i in map(layout.at, items))
        ),
    )
    says = [place for place in lead if not is_neutral(_of(layout, place))]
    alone = not (question or says or restrictions or denial)
    definition = _defines(text, begin)
    mark = text[sentence.start : numbered].strip()
    return Found(statement, core, antecedent, alone, None, definition, mark)


def _denial(headings: Sequence[str]) -> str:
    """Return the innermost heading that denies what stands under it, as it is told; or ""."""
    return next((_introducing(text) for text in reversed(headings) if heading_denies(text)), "")


def _introducing(line: str) -> str:
    """Return a line that leads into something so that it shows: with a colon, if with no mark."""
    return line if line.rstrip(CLOSERS).endswith((*STOPS, *_LEADS)) else f"{line}:"


def _worded(layout: Layout, place: tuple[int, int]) -> tuple[int, int]:
    """Return where the words of a sentence begin and end, its number and bullet left out."""
    sentence = layout.at(place)
    at_line = sentence.start == sentence.unit
    begin = without_number(layout.text, sentence.start, sentence.end, at_line=at_line)
    return begin, sentence.end


def _of(layout: Layout, place: tuple[int, int]) -> str:
    sentence = layout.at(place)
    return layout.text[sentence.start : sentence.end]


def _span(start: int, end: int) -> Span:
    return Span.trusted(start=start, end=end)


def _merged(text: str, spans: list[tuple[int, int]]) -> tuple[Span, ...]:
    """Return spans with those joined between which only white space or an item's mark stands."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and _MARK.fullmatch(text, merged[-1][1], max(start, merged[-1][1])):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(_span(start, end) for start, end in merged)


def _longer_reading(
    layout: Layout, place: tuple[int, int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the first and last sentence of the longer reading, where the end is not sure.

    Quotation marks and brackets must close; a stop behind what may be an abbreviation may be no
    end; a sentence that is nothing but a quotation goes on with its speaker.
    """
    first = last = place
    same = layout.at(place).unit
    for _ in range(_JOINED):
        start, end = layout.at(first).start, layout.at(last).end
        body = layout.text[start:end]
        open_mark = _unbalanced(body)
        quoted = body[:1] in _QUOTES and body.rstrip(".,!?")[-1:] in _QUOTES
        ahead = layout.after(last)
        if not (open_mark or quoted or ends_unsurely(layout.text, start, end)):
            break
        if ahead is not None and layout.at(ahead).unit == same:
            last = ahead
            continue
        behind = layout.before(first)
        if not open_mark or behind is None or layout.at(behind).unit != same:
            break
        first = behind
    return first, last


def _unbalanced(body: str) -> bool:
    """Whether a quotation mark or bracket is not closed, or closes what is not open."""
    if len(_QUOTE.findall(body)) % 2:
        return True
    for left, right in _PAIRS:
        if left in body or right in body:
            # "a)" numbers an item; of round brackets only what was opened is missed.
            depth = body.count(left) - body.count(right)
            if depth > 0 or (depth < 0 and left != "("):
                return True
    return False


def _what_leads(
    layout: Layout, place: tuple[int, int]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the question right before a sentence, and the lines that lead into it."""
    before = layout.before(place)
    if before is None:
        return [], []
    sentence, other = layout.at(place), layout.at(before)
    leads: list[tuple[int, int]] = []
    if sentence.kind is LineKind.ITEM:
        leads = _list_leads(layout, place)
    elif other.kind in TEXTUAL and _leads_in(_of(layout, before)):
        leads = [before]
    question = []
    if other.kind in TEXTUAL and _asks(_of(layout, before)):
        question = [before]
    return question, leads


def _list_leads(layout: Layout, place: tuple[int, int]) -> list[tuple[int, int]]:
    """Return what leads into a list item: the lines above it, and the items that it lies under."""
    text = layout.text
    item = layout.at(place)
    if item.start != item.unit and (before := layout.before(place)) is not None:
        # A later sentence of an item stands for itself unless the one before leads into it.
        inside = [before] if _leads_in(_of(layout, before)) else []
        first = before
        while (earlier := layout.before(first)) is not None and layout.at(first).start != item.unit:
            first = earlier
        return [*_list_leads(layout, first), *inside]
    found: list[tuple[int, int]] = []
    indent = _indent(text, item.unit)
    current = place
    direct = True
    while len(found) < _LEADS_UP and (before := layout.before(current)) is not None:
        other = layout.at(before)
        current = before
        if other.kind is LineKind.ITEM:
            depth = _indent(text, other.unit)
            if depth < indent:
                indent = depth
                if _leads_in(_of(layout, before)):
                    found.insert(0, before)
            direct = False
            continue
        if other.kind not in (LineKind.TEXT, LineKind.LABEL):
            break
        said = _of(layout, before)
        apart = bool(BLANK.search(text, other.end, layout.at(_next(layout, before)).start))
        fragments = item.end == item.unit_end and text[item.end - 1] not in STOPS
        unfinished = text[other.end - 1] not in STOPS
        open_end = (
            said.split()[-1].lower() in STOPWORDS or text[_worded(layout, place)[0]].islower()
        )
        bound = unfinished and (not apart or open_end)
        if (
            _leads_in(said)
            or _asks(said)
            or bound
            or (not apart and fragments)
            or (direct and announces(said))
            or (_is_paragraph(layout, before) and not unfinished)
        ):
            found.insert(0, before)
        break
    return found


def _is_paragraph(layout: Layout, place: tuple[int, int]) -> bool:
    """Whether a sentence is a paragraph of its own: above a list it says what the list is."""
    sentence = layout.at(place)
    return sentence.start == sentence.unit and sentence.end == sentence.unit_end


def _next(layout: Layout, place: tuple[int, int]) -> tuple[int, int]:
    return layout.after(place) or place


def _indent(text: str, start: int) -> int:
    return start - (text.rfind("\n", 0, start) + 1)


def _items_led(layout: Layout, place: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the sentences of the list that a line leads into: without them it says nothing."""
    found: list[tuple[int, int]] = []
    if layout.at(place).kind not in TEXTUAL or not _leads_in(_of(layout, place)):
        return found
    depth = _indent(layout.text, layout.at(place).unit)
    outer = layout.at(place).kind is LineKind.ITEM
    current = layout.after(place)
    while current is not None and (item := layout.at(current)).kind is LineKind.ITEM:
        if outer and _indent(layout.text, item.unit) <= depth:
            break
        found.append(current)
        current = layout.after(current)
    return found


def _is_flat(layout: Layout, items: list[tuple[int, int]]) -> bool:
    """Whether no item lies under another: on one line it would not show which belongs to which."""
    return len({_indent(layout.text, layout.at(each).unit) for each in items}) <= 1


def _leads_in(text: str) -> bool:
    return text.rstrip(CLOSERS).endswith(_LEADS) or (
        announces(text) and not text.rstrip(CLOSERS).endswith(_QUESTION)
    )


def _asks(text: str) -> bool:
    return text.rstrip(CLOSERS).endswith(_QUESTION)


def _needs_question(
    passage: Passage,
    layout: Layout,
    question: tuple[int, int],
    place: tuple[int, int],
    core: str,
) -> bool:
    """Whether an answer is carried by its question: on the same line, or not to be read alone."""
    between = layout.text[layout.at(question).end : layout.at(place).start]
    return "\n" not in between or _depends(passage, core, core) or core.count(" ") < _FEW_WORDS


def _language(passage: Passage, core: str) -> str | None:
    return passage.language or guess_language(core)


def _depends(passage: Passage, said: str, core: str) -> bool:
    """Whether a sentence cannot be read alone, by the openings of its language where known."""
    return depends(said) and depends(said, _language(passage, core))


def _antecedents(
    passage: Passage, layout: Layout, place: tuple[int, int], core: str
) -> list[tuple[int, int]]:
    """Return the sentences that one that cannot be read alone needs in front of it."""
    found: list[tuple[int, int]] = []
    current, said = place, core
    while len(found) < _ANTECEDENTS and _depends(passage, said, core):
        before = layout.before(current)
        if before is None or layout.at(before).kind not in TEXTUAL:
            break
        if _GAP.search(layout.text, layout.at(before).start, layout.at(current).start):
            break
        found.insert(0, before)
        current, said = before, clean_wording(_of(layout, before))
    return found


def _restrictions(
    passage: Passage,
    layout: Layout,
    first: tuple[int, int],
    last: tuple[int, int],
    core: str,
) -> list[tuple[int, int]]:
    """Return the sentences behind one that take something of it back."""
    found: list[tuple[int, int]] = []
    sentence = layout.at(first)
    current = last
    skipping = sentence.kind is LineKind.ITEM
    while len(found) < _RESTRICTIONS and (after := layout.after(current)) is not None:
        other = layout.at(after)
        current = after
        if skipping and other.kind is LineKind.ITEM and other.unit != sentence.unit:
            # What follows a list may take something back of each of its items.
            continue
        if other.kind not in TEXTUAL or passage.is_heading(other.start, other.end):
            break
        apart = other.unit != layout.at(last).unit
        if _GAP.fullmatch(_of(layout, after)):
            # What stood in a gap is not known, and neither is what follows it about.
            break
        behind = clean_wording(_of(layout, after))
        # The openings of all languages first: to ask for the language takes longer.
        if not restricts(behind, core, apart=apart):
            break
        language = _sure(_language(passage, core), core, behind)
        if language is not None and not restricts(behind, core, apart=apart, language=language):
            break
        skipping = False
        found.append(after)
    return found


def _sure(language: str | None, core: str, behind: str) -> str | None:
    """Return the language where it is sure: that of the passage and of two of its sentences.

    Only then the openings of other languages are left out; a wrong guess must hide none.
    """
    both = f"{core} {behind}"
    if language is None or guess_language(both) != language:
        return None
    letters = {letter for letter in both.lower() if letter > "\x7f" and letter.isalpha()}
    return language if letters.issubset(_LETTERS.get(language, "")) else None


# Letters of each language beside a to z: what has others is of another one.
_LETTERS = {
    "en": "éèàï", "de": "äöüßéè", "fr": "àâæçéèêëîïôœùûüÿ", "es": "áéíóúüñªº", "it": "àèéìíîòóùú",
    "pt": "áâãàçéêíóôõúªº", "nl": "éèëïöüáó",
}  # fmt: skip


def _headings(passage: Passage, layout: Layout, place: tuple[int, int]) -> tuple[str, ...]:
    """Return the headings that govern a sentence: the chunk's, and those inside its text."""
    start = layout.at(place).start
    inside = layout.headings_above(start)
    if passage.has_headings:
        above = [heading for heading in passage.headings if heading.end <= start]
        nearest = [passage.text[heading.start : heading.end] for heading in above[-1:]]
        inside = (*(line for line in inside if line.startswith("#")), *nearest)
    within = [clean_wording(line).lstrip("# ") for line in inside]
    outer = passage.chunk.headings
    title = passage.retrieved.title
    path = (title, *outer) if title and title not in outer else outer
    return tuple(dict.fromkeys([*path, *filter(None, within)]))


def _is_whole(
    passage: Passage,
    layout: Layout,
    first: tuple[int, int],
    last: tuple[int, int],
    antecedents: list[tuple[int, int]],
    lead: list[tuple[int, int]],
    core: str,
) -> bool:
    """Whether neither the passage nor a gap cuts the statement off."""
    text = layout.text
    start, end = layout.at(first).start, layout.at(last).end
    if _unbalanced(text[start:end]):
        return False
    if layout.before(first) is None and _begins_inside(text[_worded(layout, first)[0] :]):
        return False
    if layout.after(last) is None and not (
        _ends(layout, last) or (passage.of_index and end - start <= _CUT_ABOVE)
    ):
        return False
    # What a sentence needs in front of it may have stood in a gap.
    return (
        antecedents != []
        or lead != []
        or not (_depends(passage, core, core) and _behind_gap(layout, first))
    )


def _behind_gap(layout: Layout, place: tuple[int, int]) -> bool:
    before = layout.before(place)
    return before is not None and bool(
        _GAP.search(layout.text, layout.at(before).start, layout.at(place).start)
    )


def _begins_inside(text: str) -> bool:
    """Whether a passage begins in the middle of a sentence."""
    head = text[:_LOOK].lstrip(" \t\r\n\"'“”„«»‘’([*_`")
    return head[:1].islower() or head[:1] in ",;)]}”».…"


def _ends(layout: Layout, place: tuple[int, int]) -> bool:
    """Whether the last sentence of a passage is surely over."""
    text = layout.text
    sentence = layout.at(place)
    body = without_marks(text[sentence.start : sentence.end])
    if body.rstrip(CLOSERS).endswith(tuple(STOPS)):
        return True
    if sentence.kind is LineKind.LABEL:
        return True
    if sentence.kind is not LineKind.ITEM or sentence.start != sentence.unit:
        return False
    # Items without a stop are common: one that has such neighbours is as whole as they are.
    before = layout.before(place)
    return before is not None and (
        layout.at(before).kind is LineKind.ITEM
        and text[layout.at(before).end - 1 : layout.at(before).end] not in STOPS
    )


def _defines(text: str, begin: int) -> bool:
    """Whether an emphasised term and a dash begin the text at `begin`."""
    return _DEFINITION.match(text, begin) is not None


_DEFINITION = re.compile(r"(\*\*|__)[^*_\n]{1,60}\1[ \t]*[–—-][ \t]")
