"""From a quote to the statements it stands in: what a source says there, whole.

Evidence is the statement, whatever part of it a quote picks out. A claim that is cut out of a
sentence, joined from two, or freed of the line that leads into it or of the sentence that takes it
back is then seen to differ, in any language: nothing has to be known about what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent, indent
from typing import NamedTuple

from grounded_rag.text.sentences import LineKind, ends_unsurely, listed
from grounded_rag.text.words import STOPWORDS, guess_language
from grounded_rag.types import Span, Statement
from grounded_rag.verification.layout import BLANK, CLOSERS, STOPS, TEXTUAL, Layout, Position
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
# How far a statement may grow: sentences joined to one, sentences that take it back, sentences that
# its pronouns point to, and lines above a list. A longer statement is refused more often, and what
# lies further off rarely belongs to it.
_JOINED = 4
_RESTRICTIONS = 3
_ANTECEDENTS = 2
_LEADS_UP = 4
# Where a passage begins, as far as it shows that it begins inside a sentence.
_LOOK = 40
# An index of our own cuts inside a sentence only where it is longer than a chunk.
_CUT_ABOVE = 400
_MOVED_IN = " " * 4
# Spaces in an answer that is too brief to be read without its question ("Yes, on a leash.").
_FEW_WORDS = 3
_MARK = re.compile(r"\s*(?:[-*+•‣◦▪●○·–>]|\(?[0-9A-Za-z]{1,3}[.)])?\s*")
_GAP = re.compile(r"\[\s*(?:\.\.\.|…)\s*\]|\(\s*(?:\.\.\.|…)\s*\)")
_GAP_AT_END = re.compile(r"(?<=[.!?…。！？])\s*[\[(]\s*(?:\.\.\.|…)\s*[\])]\s*\Z")
# An emphasised term and a dash behind it.
_DEFINITION = re.compile(r"(\*\*|__)[^*_\n]{1,60}\1[ \t]*[–—-][ \t]")
# Letters of each language beside a to z: what has others is of another one.
_LETTERS = {
    "en": "éèàï", "de": "äöüßéè", "fr": "àâæçéèêëîïôœùûüÿ", "es": "áéíóúüñªº", "it": "àèéìíîòóùú",
    "pt": "áâãàçéêíóôõúªº", "nl": "éèëïöüáó",
}  # fmt: skip


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
        code: The code that it leads into, character by character, or "".
    """

    statement: Statement
    core: str
    antecedent: str
    alone: bool
    row: Row | None
    definition: bool
    mark: str = ""
    code: str = ""


def statements_at(passage: Passage, start: int, end: int) -> tuple[Found, ...]:
    """Return the statements that a range of a passage's text touches, in reading order."""
    layout = passage.layout
    found: list[Found] = []
    done = -1
    touched = layout.touched(start, end)
    quoted = frozenset(touched)
    for position in touched:
        sentence = layout.at(position)
        if sentence.kind in (LineKind.DELIMITER, LineKind.RULE) or sentence.start < done:
            continue
        if sentence.kind is LineKind.HEADING or passage.is_heading(sentence.start, sentence.end):
            continue
        items = _items_led(layout, position)
        if not quoted.isdisjoint(items) and not (
            quoted.issuperset(items) and _is_flat(layout, items)
        ):
            # Each of the items that are quoted brings the line along.
            continue
        made = _statement(passage, position)
        found.append(made)
        done = layout.at(items[0]).start if items and not made.code else made.statement.span.end
    return tuple(found)


def all_statements(passage: Passage) -> Iterator[Found]:
    """Yield what a passage states, in reading order: whole lists, and each of their items too."""
    layout = passage.layout
    done = -1
    for position in layout.touched(0, len(passage.text)):
        sentence = layout.at(position)
        unsaid = sentence.kind in (LineKind.DELIMITER, LineKind.RULE, LineKind.HEADING)
        if unsaid or sentence.start < done or passage.is_heading(sentence.start, sentence.end):
            continue
        made = _statement(passage, position)
        done = made.statement.span.end if made.code else layout.at(position).end
        yield made


def _statement(passage: Passage, position: Position) -> Found:
    layout = passage.layout
    sentence = layout.at(position)
    made = passage.statements.get(sentence.start)
    if made is None:
        if sentence.kind is LineKind.ROW:
            made = _row(passage, position)
        elif sentence.kind is LineKind.CODE:
            made = _code(passage, position)
        else:
            made = _prose(passage, position)
        passage.statements[sentence.start] = made
    return made


def _code(passage: Passage, position: Position) -> Found:
    """Return what code states: it is read with the sentence above it, if there is one."""
    layout = passage.layout
    lead = layout.before(position)
    if lead is not None and _is_text(passage, lead):
        leads = _code_led(layout, lead) is not None
        return _statement(passage, lead) if leads else _prose(passage, lead, position)
    sentence = layout.at(position)
    code = layout.said(position)
    text = _shown_code(layout, position)
    statement = Statement.trusted(
        text=text,
        chunk_id=passage.id,
        span=_span(sentence.start, sentence.end),
        quotes=(_span(sentence.start, sentence.end),),
        headings=_headings(passage, sentence.start),
        whole=_is_closed(layout, position),
    )
    return Found(statement, text, "", alone=True, row=None, definition=False, code=code)


def _shown_code(layout: Layout, position: Position) -> str:
    """Return code as it is told: its own lines, moved in by four columns as a block."""
    sentence = layout.at(position)
    # The first line's own white space stands before the code begins.
    line = layout.text.rfind("\n", 0, sentence.start) + 1
    return indent(dedent(layout.text[line : sentence.end].expandtabs(4)), _MOVED_IN)


def _is_closed(layout: Layout, position: Position) -> bool:
    """Whether the end of code is there: its closing fence, where a fence opens it."""
    sentence = layout.at(position)
    return sentence.unit == sentence.start or sentence.unit_end > sentence.end


def _row(passage: Passage, position: Position) -> Found:
    layout = passage.layout
    sentence = layout.at(position)
    row = row_at(passage, sentence.start, sentence.end)
    headings = _headings(passage, sentence.start)
    before, after = _around_table(passage, position)
    told = [_introducing(clean_wording(layout.said(each))) for each in before]
    denial = _denial(headings)
    told = [*([denial] if denial and denial not in told else []), *told]
    reading = row.reading()
    parts = [*told, reading, *(clean_wording(layout.said(each)) for each in after)]
    around = (layout.at(each) for each in (*before, position, *after))
    statement = Statement.trusted(
        text=" ".join(parts),
        chunk_id=passage.id,
        span=_span(sentence.start, sentence.end),
        quotes=_merged(layout.text, [(each.start, each.end) for each in around]),
        headings=headings,
        whole=bool(row.header),
        asserted=not unasserted(layout.text, sentence.start, sentence.end, sentence.start),
        cells=tuple(zip(row.header, row.cells, strict=False)),
    )
    # The name of the first column may say that its cells are no facts.
    alone = not (told or after or _denial(row.header[:1]))
    return Found(statement, reading, "", alone=alone, row=row, definition=False)


def _around_table(passage: Passage, position: Position) -> tuple[list[Position], list[Position]]:
    """Return the line that leads into the table of a row, and what takes it back behind it."""
    layout = passage.layout
    first, last = layout.run(position)
    before, after = layout.before(first), layout.after(last)
    leads = []
    if before is not None and _is_text(passage, before):
        said = layout.said(before)
        title = not said.rstrip(CLOSERS).endswith(tuple(STOPS)) and heading_denies(said)
        if (title or _leads_in(said)) and not is_neutral(said):
            leads = [before]
    takes_back = after is not None and (
        _is_text(passage, after) and restricts(clean_wording(layout.said(after)), apart=True)
    )
    return leads, [after] if after is not None and takes_back else []


def _is_text(passage: Passage, position: Position) -> bool:
    sentence = passage.layout.at(position)
    return sentence.kind in TEXTUAL and not passage.is_heading(sentence.start, sentence.end)


def _prose(passage: Passage, position: Position, code: Position | None = None) -> Found:
    """Return what a sentence or item states, with the `code` below it where that belongs to it."""
    layout = passage.layout
    text = layout.text
    first, last = _longer_reading(layout, position)
    start, end = layout.at(first).start, layout.at(last).end
    gap = _GAP_AT_END.search(text, start, end)
    end = end if gap is None else gap.start()
    sentence = layout.at(first)
    numbered = _worded(layout, first)[0]
    begin = passage.behind_heading(numbered, end)
    items = _items_led(layout, last)
    code = code or _code_led(layout, last)
    worded = [(begin, end), *(_worded(layout, each) for each in items)]
    said = clean_wording(text[begin:end])
    if items or sentence.kind is LineKind.ITEM:
        said = listed([said, *(clean_wording(text[a:b]) for a, b in worded[1:])])
    core = said
    if items:
        last = items[-1]
    elif code is not None:
        last = code
        worded.append(_worded(layout, code))
        core = f"{said}\n\n{_shown_code(layout, code)}"
    question, lead = _what_leads(layout, first)
    # What is led into by a line of its own needs nothing else in front of it.
    antecedents = [] if lead or question else _antecedents(passage, first, said)
    restrictions = _restrictions(passage, first, last, said)
    headings = _headings(passage, start)
    if question and not _needs_question(passage, question[0], first, said):
        headings = tuple(dict.fromkeys((*headings, _title(layout.said(question[0])))))
        question = []
    ahead = [_worded(layout, each) for each in (*lead, *question, *antecedents)]
    ahead = [(passage.behind_heading(a, b), b) for a, b in ahead]
    behind = [_worded(layout, each) for each in restrictions]
    before = [_title(text[a:b]) for a, b in ahead]
    before[: len(lead)] = [_introducing(line) for line in before[: len(lead)]]
    denial = _denial(headings)
    parts = [*([denial] if denial and denial not in before else []), *before, core]
    told = " ".join(parts)
    for at, bounds in enumerate(behind):
        between = "\n\n" if code is not None and at == 0 else " "
        told = f"{told}{between}{clean_wording(text[slice(*bounds)])}"
    statement = Statement.trusted(
        text=told,
        chunk_id=passage.id,
        span=_span(begin, worded[-1][1]),
        quotes=_merged(text, [*ahead, *worded, *behind]),
        headings=headings,
        whole=_is_whole(passage, first, last, said, led=bool(antecedents or lead))
        and (code is not None or not said.rstrip(CLOSERS).endswith(_LEADS))
        and _is_flat(layout, items),
        asserted=not (
            any(_asks(text[a:b]) for a, b in worded[: 1 + len(items)])
            or unasserted(text, sentence.unit, end, begin)
            or any(unasserted(text, i.unit, i.end, i.start) for i in map(layout.at, items))
        ),
    )
    says = [each for each in lead if not is_neutral(layout.said(each))]
    return Found(
        statement,
        core,
        antecedent=" ".join(clean_wording(layout.said(each)) for each in antecedents),
        alone=not (question or says or restrictions or denial),
        row=None,
        definition=_DEFINITION.match(text, begin) is not None,
        mark=text[sentence.start : numbered].strip(),
        code="" if code is None else layout.said(code),
    )


def _denial(headings: Sequence[str]) -> str:
    """Return the innermost heading that denies what stands under it, as it is told; or ""."""
    return next((_introducing(text) for text in reversed(headings) if heading_denies(text)), "")


def _introducing(line: str) -> str:
    """Return a line that leads into something so that it shows: with a colon, if with no mark."""
    return line if line.rstrip(CLOSERS).endswith((*STOPS, *_LEADS)) else f"{line}:"


def _worded(layout: Layout, position: Position) -> tuple[int, int]:
    """Return where the words of a sentence begin and end, its number and bullet left out."""
    sentence = layout.at(position)
    if sentence.kind is LineKind.CODE:
        return sentence.start, sentence.end
    at_line = sentence.start == sentence.unit
    begin = without_number(layout.text, sentence.start, sentence.end, at_line=at_line)
    return begin, sentence.end


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


def _longer_reading(layout: Layout, position: Position) -> tuple[Position, Position]:
    """Return the first and last sentence of the longer reading, where the end is not sure.

    Quotation marks and brackets must close; a stop behind what may be an abbreviation may be no
    end; a sentence that is nothing but a quotation goes on with its speaker.
    """
    first = last = position
    same = layout.at(position).unit
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


def _what_leads(layout: Layout, position: Position) -> tuple[list[Position], list[Position]]:
    """Return the question right before a sentence, and the lines that lead into it."""
    before = layout.before(position)
    if before is None:
        return [], []
    above = layout.at(before).kind in TEXTUAL
    leads: list[Position] = []
    if layout.at(position).kind is LineKind.ITEM:
        leads = _list_leads(layout, position)
    elif above and _leads_in(layout.said(before)):
        leads = [before]
    # An answer may stand under a heading that asks.
    asks = layout.at(before).kind in (*TEXTUAL, LineKind.HEADING) and _asks(layout.said(before))
    return [before] if asks else [], leads


def _list_leads(layout: Layout, position: Position) -> list[Position]:
    """Return what leads into a list item: the lines above it, and the items that it lies under."""
    item = layout.at(position)
    if item.start != item.unit and (before := layout.before(position)) is not None:
        # A later sentence of an item stands for itself unless the one before leads into it.
        inside = [before] if _leads_in(layout.said(before)) else []
        first = before
        while (earlier := layout.before(first)) is not None and layout.at(first).start != item.unit:
            first = earlier
        return [*_list_leads(layout, first), *inside]
    found: list[Position] = []
    outer = layout.outer_item(position)
    while outer is not None and len(found) < _LEADS_UP:
        if _leads_in(layout.said(outer)):
            found.insert(0, outer)
        outer = layout.outer_item(outer)
    top = layout.run(position)[0]
    above = layout.before(top)
    if len(found) < _LEADS_UP and above is not None and _leads_list(layout, above, position, top):
        found.insert(0, above)
    return found


def _leads_list(layout: Layout, above: Position, position: Position, top: Position) -> bool:
    """Whether the sentence above a list, whose first sentence is `top`, leads into an item."""
    text, item, other = layout.text, layout.at(position), layout.at(above)
    if other.kind not in (LineKind.TEXT, LineKind.LABEL):
        return False
    said = layout.said(above)
    apart = bool(BLANK.search(text, other.end, layout.at(top).start))
    # An item without a stop is a part of a sentence that has begun above.
    fragments = item.end == item.unit_end and text[item.end - 1] not in STOPS
    unfinished = text[other.end - 1] not in STOPS
    open_end = said.split()[-1].lower() in STOPWORDS or text[_worded(layout, position)[0]].islower()
    # A paragraph of its own above a list says what the list is.
    paragraph = other.start == other.unit and other.end == other.unit_end
    return (
        _leads_in(said)
        or _asks(said)
        or (unfinished and (not apart or open_end))
        or (not apart and fragments)
        or (position == top and announces(said))
        or (paragraph and not unfinished)
    )


def _items_led(layout: Layout, position: Position) -> list[Position]:
    """Return the sentences of the list that a line leads into: without them it says nothing."""
    found: list[Position] = []
    if layout.at(position).kind not in TEXTUAL or not _leads_in(layout.said(position)):
        return found
    outer = layout.at(position).kind is LineKind.ITEM
    current = layout.after(position)
    while current is not None and layout.at(current).kind is LineKind.ITEM:
        if outer and layout.indent(current) <= layout.indent(position):
            break
        found.append(current)
        current = layout.after(current)
    return found


def _code_led(layout: Layout, position: Position) -> Position | None:
    """Return the code that a line leads into, if it does."""
    below = layout.after(position)
    if below is None or layout.at(below).kind is not LineKind.CODE:
        return None
    return below if _leads_in(layout.said(position)) else None


def _is_flat(layout: Layout, items: list[Position]) -> bool:
    """Whether no item lies under another: on one line it would not show which belongs to which."""
    return len(set(map(layout.indent, items))) <= 1


def _leads_in(text: str) -> bool:
    return text.rstrip(CLOSERS).endswith(_LEADS) or (announces(text) and not _asks(text))


def _asks(text: str) -> bool:
    return text.rstrip(CLOSERS).endswith(_QUESTION)


def _needs_question(passage: Passage, question: Position, position: Position, core: str) -> bool:
    """Whether an answer is carried by its question: on the same line, or not to be read alone."""
    layout = passage.layout
    between = layout.text[layout.at(question).end : layout.at(position).start]
    return "\n" not in between or _depends(passage, core, core) or core.count(" ") < _FEW_WORDS


def _language(passage: Passage, core: str) -> str | None:
    return passage.language or guess_language(core)


def _depends(passage: Passage, said: str, core: str) -> bool:
    """Whether a sentence cannot be read alone, by the openings of its language where known."""
    return depends(said) and depends(said, _language(passage, core))


def _antecedents(passage: Passage, position: Position, core: str) -> list[Position]:
    """Return the sentences that one that cannot be read alone needs in front of it."""
    layout = passage.layout
    found: list[Position] = []
    current, said = position, core
    while len(found) < _ANTECEDENTS and _depends(passage, said, core):
        before = layout.before(current)
        if before is None or layout.at(before).kind not in TEXTUAL or _behind_gap(layout, current):
            break
        found.insert(0, before)
        current, said = before, clean_wording(layout.said(before))
    return found


def _restrictions(passage: Passage, first: Position, last: Position, core: str) -> list[Position]:
    """Return the sentences behind one that take something of it back."""
    layout = passage.layout
    found: list[Position] = []
    sentence = layout.at(first)
    after = layout.after(last)
    if sentence.kind is LineKind.ITEM and after is not None:
        other = layout.at(after)
        if other.kind is LineKind.ITEM and other.unit != sentence.unit:
            # What follows a list may take something back of each of its items.
            after = layout.after(layout.run(after)[1])
    while len(found) < _RESTRICTIONS and after is not None and _is_text(passage, after):
        # What stood in a gap is not known, and neither is what follows it about.
        if _GAP.fullmatch(layout.said(after)):
            break
        apart = layout.at(after).unit != layout.at(last).unit
        behind = clean_wording(layout.said(after))
        # The openings of all languages first: to ask for the language takes longer.
        if not restricts(behind, core, apart=apart):
            break
        language = _sure(_language(passage, core), core, behind)
        if language is not None and not restricts(behind, core, apart=apart, language=language):
            break
        found.append(after)
        after = layout.after(after)
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


def _headings(passage: Passage, start: int) -> tuple[str, ...]:
    """Return the headings that govern a sentence: the chunk's, and those inside its text."""
    inside = passage.layout.headings_above(start)
    if passage.chunk.heading_spans:
        # Where the chunk says what its headings are, what only looks like one is none.
        above = [heading for heading in passage.headings if heading.end <= start]
        nearest = [passage.text[heading.start : heading.end] for heading in above[-1:]]
        inside = (*(line for line in inside if line.startswith("#")), *nearest)
    within = [_title(line) for line in inside]
    outer = passage.chunk.headings
    title = passage.retrieved.title
    path = (title, *outer) if title and title not in outer else outer
    return tuple(dict.fromkeys([*path, *filter(None, within)]))


def _title(line: str) -> str:
    """Return the words of a heading or of a question that stands above an answer."""
    return clean_wording(line).lstrip("# ")


def _is_whole(passage: Passage, first: Position, last: Position, core: str, *, led: bool) -> bool:
    """Whether neither the passage nor a gap cuts the statement off.

    What a sentence needs in front of it may have stood in a gap, unless it is `led` into.
    """
    layout = passage.layout
    text = layout.text
    start, end = layout.at(first).start, layout.at(last).end
    if layout.at(last).kind is LineKind.CODE:
        if not _is_closed(layout, last):
            return False
    elif _unbalanced(text[start:end]):
        return False
    if layout.before(first) is None and _begins_inside(text[_worded(layout, first)[0] :]):
        return False
    if layout.after(last) is None and not (
        _ends(layout, last) or (passage.of_index and end - start <= _CUT_ABOVE)
    ):
        return False
    return led or not (_depends(passage, core, core) and _behind_gap(layout, first))


def _behind_gap(layout: Layout, position: Position) -> bool:
    before = layout.before(position)
    return before is not None and bool(
        _GAP.search(layout.text, layout.at(before).start, layout.at(position).start)
    )


def _begins_inside(text: str) -> bool:
    """Whether a passage begins in the middle of a sentence."""
    head = text[:_LOOK].lstrip(" \t\r\n\"'“”„«»‘’([*_`")
    return head[:1].islower() or head[:1] in ",;)]}”».…"


def _ends(layout: Layout, position: Position) -> bool:
    """Whether the last sentence of a passage is surely over."""
    text = layout.text
    sentence = layout.at(position)
    if without_marks(layout.said(position)).rstrip(CLOSERS).endswith(tuple(STOPS)):
        return True
    if sentence.kind in (LineKind.LABEL, LineKind.CODE):
        return True
    if sentence.kind is not LineKind.ITEM or sentence.start != sentence.unit:
        return False
    # Items without a stop are common: one that has such neighbours is as whole as they are.
    before = layout.before(position)
    return (
        before is not None
        and layout.at(before).kind is LineKind.ITEM
        and text[layout.at(before).end - 1] not in STOPS
    )
