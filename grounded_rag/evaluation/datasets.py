"""Golden sets: the items, reading them, finding what is wrong with them, starting a new one."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from grounded_rag.errors import InputError
from grounded_rag.statistics import clopper_pearson
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.types import Document, Frozen, Instant, Span
from grounded_rag.validity import parse_instant

Model = TypeVar("Model", bound=BaseModel)

USEFUL = 100
"""Least number of items with which a rate says something; 200 are better."""

_LEAST_SHARE = 0.15


class Answerable(StrEnum):
    """Whether the documents answer a question."""

    YES = "yes"
    NO = "no"
    PART = "part"


class GoldQuote(Frozen):
    """One place that carries the fact: a document and characters copied from it."""

    file: str = Field(description="Id of the document, usually its path in the corpus.")
    quote: str = Field(description="A literal slice of the document's canonical text.")


class GoldPiece(Frozen):
    """One needed piece of evidence; any of its places will do."""

    any_of: Annotated[tuple[GoldQuote, ...], Field(min_length=1)]


class GoldenItem(Frozen):
    """One question with what a person knows about its answer; only `question` is needed.

    `as_of` is the moment for which the answer should hold, None for today. `answerable` is None
    where nobody has said so; where it is left out, a given `expected` or `gold` means yes.
    """

    id: str = Field(default="", description="Unique; by default a hash of question and `as_of`.")
    kind: str = Field(default="", description="Kind of question, for breakdowns.")
    tags: tuple[str, ...] = Field(default=(), description="Traps, languages, and so on.")
    question: str = Field(description="As a user asks it.")
    as_of: Annotated[
        Instant | None,
        BeforeValidator(lambda value: parse_instant(value) if isinstance(value, str) else value),
    ] = None
    # An empty label is that of a template nobody has filled in.
    answerable: Annotated[
        Answerable | None, BeforeValidator(lambda value: None if value == "" else value)
    ] = None
    expected: str = Field(default="", description="The right answer in plain words.")
    gold: tuple[GoldPiece, ...] = Field(default=(), description="One place of each piece will do.")
    unanswered: str = Field(default="", description="For `part`: the literal part that stays open.")
    note: str = Field(default="", description="Remark for people.")
    split: str = Field(default="", description='Such as "dev" or "test".')

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        filled = dict(value)
        if "answerable" not in filled and (filled.get("expected") or filled.get("gold")):
            filled["answerable"] = Answerable.YES
        if not filled.get("id"):
            named = f"{filled.get('question', '')}\x00{filled.get('as_of') or ''}"
            digest = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
            filled["id"] = f"q{digest[:12]}"
        return filled


def load_golden(path: Path | str) -> tuple[GoldenItem, ...]:
    """Read a golden set, one JSON object on each line; blank lines are skipped.

    Raises:
        InputError: A line is no item, or an id comes twice; the message names it.
    """
    items: list[GoldenItem] = []
    seen: set[str] = set()
    for number, item in read_lines(Path(path), GoldenItem):
        if isinstance(item, str):
            raise InputError(
                f"{path} line {number}: {item}",
                hint="`grounded-rag golden check` lists everything that is wrong with a set.",
            )
        if item.id in seen:
            raise InputError(
                f"{path} line {number}: the id {item.id!r} comes twice.",
                hint="Give each item an id of its own.",
            )
        seen.add(item.id)
        items.append(item)
    if not items:
        raise InputError(f"{path} holds no items.", hint="`grounded-rag golden new` starts a set.")
    return tuple(items)


def select(
    items: Sequence[GoldenItem], *, split: str | None = None, limit: int | None = None
) -> tuple[GoldenItem, ...]:
    """Return the items of a split, at most `limit` of them, spread evenly over the set.

    Sets are often sorted by kind; the first items would be of one kind.

    Raises:
        InputError: None is left, or an id comes twice.
    """
    chosen = tuple(item for item in items if split is None or item.split == split)
    if limit is not None and limit < len(chosen):
        chosen = tuple(chosen[number * len(chosen) // limit] for number in range(limit))
    if not chosen:
        splits = sorted({item.split or "-" for item in items})
        raise InputError(
            f"No item is left with split {split!r}.", hint=f"The splits are: {', '.join(splits)}."
        )
    if len({item.id for item in chosen}) < len(chosen):
        raise InputError("An id comes twice.", hint="Give each item an id of its own.")
    return chosen


def golden_hash(items: Iterable[GoldenItem]) -> str:
    """Return the SHA-256, hexadecimal, over the items in their order."""
    digest = hashlib.sha256()
    for item in items:
        digest.update(item.model_dump_json().encode() + b"\n")
    return digest.hexdigest()


def read_lines(path: Path, shape: type[Model]) -> Iterator[tuple[int, Model | str]]:
    """Yield each line of a JSON Lines file by its number: what it holds, or what is wrong with it.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint="Give a UTF-8 file.") from error
    # Not splitlines(): a quote may hold U+2028 and other marks that are no ends of lines in JSON.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _read(line, shape)


def _read(line: str, shape: type[Model]) -> Model | str:
    try:
        return shape.model_validate(json.loads(line))
    except ValidationError as error:
        return first_problem(error)
    except (ValueError, RecursionError) as error:
        return f"it is no JSON: {error}"


def first_problem(error: ValidationError) -> str:
    """Return the first thing that is wrong, behind its place where it has one."""
    first = error.errors(include_url=False)[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))


class GoldenStats(Frozen):
    """Size and balance of a golden set."""

    items: int
    answerable: dict[str, int] = Field(description='Items by label, "unlabelled" included.')
    kinds: dict[str, int]
    splits: dict[str, int]
    with_gold: int
    with_expected: int
    missing: int = Field(description="Items still missing to `USEFUL`.")
    widest: float = Field(description="Half-width of the 95 % interval of a rate of one half.")


def golden_stats(items: Sequence[GoldenItem]) -> GoldenStats:
    """Return size and balance of a set."""
    half = clopper_pearson(len(items) // 2, len(items))
    return GoldenStats(
        items=len(items),
        answerable=_count(str(item.answerable or "unlabelled") for item in items),
        kinds=_count(item.kind or "-" for item in items),
        splits=_count(item.split or "-" for item in items),
        with_gold=sum(bool(item.gold) for item in items),
        with_expected=sum(bool(item.expected.strip()) for item in items),
        missing=max(0, USEFUL - len(items)),
        widest=(half.high - half.low) / 2,
    )


def _count(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


class GoldenFinding(Frozen):
    """One thing to correct in a golden set, at a line or an id.

    An `error` makes a measurement wrong; a `warning` makes it weak.
    """

    severity: Literal["error", "warning"]
    rule: str
    where: str
    detail: str


class GoldenCheck(Frozen):
    """What a golden set holds, and what is wrong with it."""

    stats: GoldenStats
    findings: tuple[GoldenFinding, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether nothing is wrong with it; warnings leave it usable."""
        return all(finding.severity != "error" for finding in self.findings)


def check_golden(path: Path | str, *, documents: Mapping[str, str] | None = None) -> GoldenCheck:
    """Check a golden set: schema, quotes, duplicates, leakage between splits, balance and size.

    Args:
        path: The file.
        documents: Canonical text of each document by id; without it, quotes are not compared.

    Raises:
        InputError: The file cannot be read at all.
    """
    items: list[GoldenItem] = []
    findings: list[GoldenFinding] = []
    for number, item in read_lines(Path(path), GoldenItem):
        if isinstance(item, str):
            findings.append(_error("schema", f"line {number}", item))
        else:
            items.append(item)
    for rule in (_unfilled, _labels, _duplicates, _leakage, _balance):
        findings += rule(items)
    if documents is not None:
        findings += _quotes(items, documents)
    return GoldenCheck(stats=golden_stats(items), findings=tuple(findings))


def _error(rule: str, where: str, detail: str) -> GoldenFinding:
    return GoldenFinding(severity="error", rule=rule, where=where, detail=detail)


def _warning(rule: str, where: str, detail: str) -> GoldenFinding:
    return GoldenFinding(severity="warning", rule=rule, where=where, detail=detail)


def _unfilled(items: Sequence[GoldenItem]) -> Iterator[GoldenFinding]:
    for item in items:
        if not item.question.strip():
            yield _error("unfilled", item.id, "The question is empty.")
        if item.answerable is None:
            yield _error("unfilled", item.id, 'Nobody has said whether it is "answerable".')


def _labels(items: Sequence[GoldenItem]) -> Iterator[GoldenFinding]:
    for item in items:
        answered = bool(item.gold or item.expected.strip())
        if item.answerable is Answerable.NO and answered:
            yield _error(
                "labels", item.id, "It is unanswerable and has gold or an expected answer."
            )
        if item.answerable in (Answerable.YES, Answerable.PART) and not answered:
            yield _error("labels", item.id, "It is answerable and has neither gold nor `expected`.")
        if (item.answerable is Answerable.PART) != bool(item.unanswered.strip()):
            yield _error("labels", item.id, "`unanswered` belongs to `part`, and only there.")
        if item.unanswered not in item.question:
            yield _error("labels", item.id, "`unanswered` is no literal part of the question.")


def _duplicates(items: Sequence[GoldenItem]) -> Iterator[GoldenFinding]:
    for name, count in Counter(item.id for item in items).items():
        if count > 1:
            yield _error("duplicate", name, f"The id comes {count} times.")
    for group in _grouped(items, lambda item: f"{_plain(item.question)}\x00{item.as_of}"):
        if _plain(group[0].question) and len({item.id for item in group}) > 1:
            ids = ", ".join(item.id for item in group)
            yield _error("duplicate", ids, "They ask the same question for the same day.")


def _leakage(items: Sequence[GoldenItem]) -> Iterator[GoldenFinding]:
    """Find the same words in two splits: what is tuned on one has seen the other."""
    for group in _grouped(items, lambda item: " ".join(sorted(set(_plain(item.question).split())))):
        splits = sorted({item.split for item in group})
        if len(splits) > 1 and _plain(group[0].question):
            ids = ", ".join(item.id for item in group)
            detail = f"The same question stands in the splits {', '.join(map(repr, splits))}."
            # The same words for another day are another question, but a close relative.
            same_day = len({item.as_of for item in group}) < len(group)
            yield (_error if same_day else _warning)("leakage", ids, detail)


def _balance(items: Sequence[GoldenItem]) -> Iterator[GoldenFinding]:
    if len(items) < USEFUL:
        yield _warning(
            "size",
            f"{len(items)} items",
            f"A useful set has {USEFUL} to {2 * USEFUL}; {USEFUL - len(items)} are missing.",
        )
    labelled = [item for item in items if item.answerable is not None]
    unanswerable = sum(item.answerable is Answerable.NO for item in labelled)
    if labelled and not _LEAST_SHARE <= unanswerable / len(labelled) <= 1 - _LEAST_SHARE:
        yield _warning(
            "balance",
            f"{unanswerable} of {len(labelled)}",
            "Both directions need questions: at least 15 % unanswerable, 15 % answerable.",
        )


def _quotes(items: Sequence[GoldenItem], documents: Mapping[str, str]) -> Iterator[GoldenFinding]:
    for item in items:
        for option in (option for piece in item.gold for option in piece.any_of):
            text = documents.get(option.file)
            if text is None:
                yield _error("quote", item.id, f"There is no document {option.file!r}.")
            elif not option.quote.strip():
                yield _error("quote", item.id, f"A quote from {option.file} is empty.")
            elif option.quote not in text:
                shown = option.quote[:60].replace("\n", " ")
                yield _error("quote", item.id, f"{option.file} does not say “{shown}” verbatim.")


def _grouped(
    items: Sequence[GoldenItem], key: Callable[[GoldenItem], str]
) -> list[list[GoldenItem]]:
    groups: dict[str, list[GoldenItem]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return [group for group in groups.values() if len(group) > 1]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


# A passage to ask about says something, and a person reads it at a glance.
_LEAST_WORDS = 6
_LONGEST = 400


class GoldenTemplates(Frozen):
    """What was written for a person to fill in."""

    path: Path
    answerable: int = Field(description="With a passage to ask about.")
    unanswerable: int = Field(description="Blank: for questions that have no answer.")
    documents: int = Field(description="Documents that passages come from.")


class _Candidate(NamedTuple):
    order: str
    doc_id: str
    quote: str


def new_golden(
    path: Path | str, documents: Iterable[Document], *, size: int = 150, seed: int = 0
) -> GoldenTemplates:
    """Write templates of a golden set; a third is for questions without an answer.

    Passages are drawn from all documents in turn, so that no long document fills the set.

    Args:
        path: File to write; it must not exist.
        documents: The corpus.
        size: Number of templates, at least 3.
        seed: The same seed draws the same passages.

    Raises:
        InputError: The file exists, or the documents hold no sentence to ask about.
    """
    path = Path(path)
    if size < 3:
        raise InputError(f"{size} templates are too few.", hint="Ask for 3 or more.")
    unanswerable = size // 3
    chosen = _drawn(list(documents), size - unanswerable, seed)
    if not chosen:
        raise InputError(
            "The documents hold no sentence to ask about.", hint="Name a folder with prose."
        )
    lines = [_template(f"t{number:03}", passage) for number, passage in enumerate(chosen, start=1)]
    first = len(lines) + 1
    lines += [_template(f"t{number:03}", None) for number in range(first, first + unanswerable)]
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    except FileExistsError as error:
        raise InputError(f"{path} exists.", hint="Name a new file.") from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error
    return GoldenTemplates(
        path=path,
        answerable=len(chosen),
        unanswerable=unanswerable,
        documents=len({passage.doc_id for passage in chosen}),
    )


def _template(name: str, passage: _Candidate | None) -> dict[str, object]:
    gold: list[object] = []
    note = "Ask what no document answers, near to what they do answer; set answerable to no."
    if passage is not None:
        gold = [{"any_of": [{"file": passage.doc_id, "quote": passage.quote}]}]
        note = "Ask what this passage answers, in a user's words; set answerable and expected."
    blank: dict[str, object] = dict.fromkeys(GoldenItem.model_fields, "")
    return blank | {"id": name, "tags": [], "as_of": None, "gold": gold, "note": note}


def _drawn(documents: Sequence[Document], count: int, seed: int) -> list[_Candidate]:
    """Return passages of all documents in turn, in an order that depends on the seed alone."""
    queues = [sorted(_passages(document, seed)) for document in documents]
    queues = sorted(queue for queue in queues if queue)
    drawn: list[_Candidate] = []
    depth = 0
    while len(drawn) < count and any(depth < len(queue) for queue in queues):
        drawn += [queue[depth] for queue in queues if depth < len(queue)]
        depth += 1
    return drawn[:count]


def _passages(document: Document, seed: int) -> Iterable[_Candidate]:
    for span in split_sentences(document.text):
        quote = span.of(document.text).strip()
        if len(quote) > _LONGEST or _in_heading(document, span):
            continue
        if len(content_words(quote)) >= _LEAST_WORDS:
            named = f"{seed}\x00{document.id}\x00{span.start}\x00{quote}"
            order = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
            yield _Candidate(order, document.id, quote)


def _in_heading(document: Document, span: Span) -> bool:
    return any(heading.overlaps(span) for heading in document.headings)
