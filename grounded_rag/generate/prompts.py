"""The prompts of the structured generator, loaded from a folder and checked before use."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Any, Literal, NamedTuple

from pydantic import ConfigDict, Field, model_validator

from grounded_rag.errors import PromptError
from grounded_rag.generate.passages import passage_metadata, show_passage
from grounded_rag.resources import prompts_dir
from grounded_rag.types import Chunk, Citation, Claim, Draft, Frozen, RetrievedChunk, Span, Validity

PromptKind = Literal["copy", "label", "citations"]
"""How evidence is pointed at: quotes copied, sentences by label, or the provider's citations."""


class _Part(Frozen):
    """A part of an example; a key that is not known is a slip of the pen."""

    model_config = ConfigDict(extra="forbid")


class ExamplePassage(_Part):
    """A passage of an example."""

    text: str
    title: str = ""
    section: tuple[str, ...] = ()
    effective_from: dt.date | None = None
    valid_until: dt.date | None = None


class ExampleQuote(_Part):
    """A quote, copied from the passage of that number."""

    quote: str = Field(min_length=1)
    passage: int = Field(default=1, ge=1)


class ExampleClaim(_Part):
    """A claim that the answer gives."""

    text: str
    quotes: tuple[ExampleQuote, ...] = Field(min_length=1)


class ExampleAnswer(_Part):
    """An answer in one of the two wordings."""

    claims: tuple[ExampleClaim, ...]
    unanswered: tuple[str, ...] = ()


class Example(_Part):
    """A question with passages, and its answer in either wording."""

    shows: str  # What the example is for, in a few words
    question: str
    as_of: dt.date | None = None
    passages: tuple[ExamplePassage, ...] = Field(min_length=1)
    source: ExampleAnswer  # In whole sentences of the passages
    own: ExampleAnswer  # In words of its own

    @model_validator(mode="after")
    def _check(self) -> Example:
        """Refuse an example that breaks the rules which it should show."""
        for answer in (self.source, self.own):
            for quote in (quote for claim in answer.claims for quote in claim.quotes):
                if quote.passage > len(self.passages):
                    raise ValueError(f"there is no passage {quote.passage}")
                if quote.quote not in self.passages[quote.passage - 1].text:
                    raise ValueError(f"the quote {quote.quote!r} is not in its passage")
            for part in answer.unanswered:
                if part not in self.question:
                    raise ValueError(f"{part!r} is no part of the question")
        return self

    def chunks(self, number: int) -> tuple[RetrievedChunk, ...]:
        """Return the passages as chunks; their ids are the labels that they are shown under."""
        return tuple(
            _chunk(f"EX{number}-{rank}", rank, passage)
            for rank, passage in enumerate(self.passages, start=1)
        )

    def draft(self, number: int, *, own_words: bool) -> Draft:
        """Return the answer as the draft that it stands for."""
        answer = self.own if own_words else self.source
        claims = tuple(
            Claim(
                text=claim.text,
                citations=tuple(
                    Citation(chunk_id=f"EX{number}-{quote.passage}", quote=quote.quote)
                    for quote in claim.quotes
                ),
            )
            for claim in answer.claims
        )
        return Draft(claims=claims, unanswered=answer.unanswered)


class _Examples(_Part):
    examples: tuple[Example, ...]


def read_examples(text: str) -> tuple[Example, ...]:
    """Read examples from TOML.

    Raises:
        ValueError: The text is no TOML of that shape, or an example breaks its own rules.
    """
    return _Examples.model_validate(tomllib.loads(text)).examples


def show_examples(examples: tuple[Example, ...], kind: PromptKind, *, own_words: bool) -> str:
    """Return the examples as a part of a system prompt."""
    shown = (
        _with_citations(number, example, own_words)
        if kind == "citations"
        else _with_tool(number, example, own_words, labelled=kind == "label")
        for number, example in enumerate(examples, start=1)
    )
    return "\n\n".join(shown)


def _with_tool(number: int, example: Example, own_words: bool, *, labelled: bool) -> str:
    draft = example.draft(number, own_words=own_words)
    lines = [f"## {example.shows}", ""]
    labels: dict[Citation, str] = {}
    for chunk in example.chunks(number):
        passage = show_passage(chunk.chunk.id, chunk, labelled=labelled)
        lines += passage.blocks
        labels.update({sentence: label for label, sentence in passage.quotes.items()})
    lines += _asked(example)
    claims = [
        _labelled(claim, labels)
        if labelled
        else {"citations": [c.model_dump() for c in claim.citations], "text": claim.text}
        for claim in draft.claims
    ]
    given = {"claims": claims, "unanswered": list(draft.unanswered)}
    return "\n".join((*lines, "", "Input of the tool:", json.dumps(given, ensure_ascii=False)))


def _labelled(claim: Claim, labels: dict[Citation, str]) -> dict[str, Any]:
    named = [
        label
        for quote in claim.citations
        for sentence, label in labels.items()
        if sentence.chunk_id == quote.chunk_id and quote.quote in sentence.quote
    ]
    return {"sentences": named, "text": claim.text}


def _with_citations(number: int, example: Example, own_words: bool) -> str:
    draft = example.draft(number, own_words=own_words)
    lines = [f"## {example.shows}", ""]
    for chunk in example.chunks(number):
        about = json.dumps(passage_metadata(chunk), ensure_ascii=False)
        lines += [f"DOCUMENT {about}", chunk.chunk.text]
    lines += [*_asked(example), "", "Answer:"]
    for claim in draft.claims:
        lines.append(claim.text)
        lines += [f"  cites: {citation.quote}" for citation in claim.citations]
    return "\n".join((*lines, *(f"UNANSWERED: {part}" for part in draft.unanswered)))


def _asked(example: Example) -> list[str]:
    day = [] if example.as_of is None else [f"AS OF {example.as_of.isoformat()}"]
    return [*day, "QUESTION", example.question]


def _chunk(label: str, rank: int, passage: ExamplePassage) -> RetrievedChunk:
    # A TOML text in three quotation marks begins behind its first line end, and may end in one.
    text = passage.text.strip()
    return RetrievedChunk(
        chunk=Chunk(
            id=label,
            doc_id=label,
            span=Span(start=0, end=len(text)),
            text=text,
            content_hash=hashlib.sha256(text.encode()).hexdigest(),
            headings=passage.section,
        ),
        rank=rank,
        title=passage.title,
        validity=Validity(effective_from=passage.effective_from, valid_until=passage.valid_until),
    )


_VERSION_LINE = re.compile(r"<!--.{0,120}\bversion\s+\S{1,20}\s*-->", re.IGNORECASE)
_TOML_VERSION_LINE = re.compile(r"#.{0,120}\bversion\s+\S{1,20}", re.IGNORECASE)
_ANSWER_PLACEHOLDERS = frozenset({"refusal"})
_ANSWER_BLOCKS = frozenset({"wording", "examples"})
_REASK_PLACEHOLDERS = frozenset({"failed", "kept", "note"})
_NOTE_LINE = re.compile(r"(?m)^.*\$(?:note\b|\{note\}).*\n?")
_BLANK_LINES = re.compile(r"\n{3,}")


class _Files(NamedTuple):
    """The files of one kind of prompts, and the words that its citation rule must hold."""

    answer: str
    reask: str
    words: tuple[str, ...]


_FILES: dict[PromptKind, _Files] = {
    "copy": _Files("answer.md", "reask.md", ("chunk_id", "quote")),
    "label": _Files("labels.md", "labels_reask.md", ("sentences",)),
    "citations": _Files("citations.md", "citations_reask.md", ("cite",)),
}


class Wording(Frozen):
    """What a prompt says about the words of a claim."""

    rules: str = ""  # In the place of `$wording`
    examples: str = ""  # In the place of `$examples`


class PromptSet(Frozen):
    """The texts that a structured generator sends, apart from passages and question.

    Documents, questions and claims never pass through a template: values are inserted once,
    after the template was read, so a `$` in them stays a `$`.
    """

    answer: str = Field(
        description="Template of the system prompt, with `$refusal`; it may have `$wording` and "
        "`$examples`."
    )
    reask: str = Field(
        description="Template of the second attempt, with `$failed`, `$kept` and `$note`."
    )
    refusal: str = Field(description="The refusal string of this folder.")
    source: Wording = Field(
        default=Wording(),
        description="Wording where nothing can confirm a claim in the model's own words.",
    )
    own: Wording = Field(default=Wording(), description="Wording where something can.")

    @classmethod
    def load(cls, folder: Path | None = None, *, kind: PromptKind = "copy") -> PromptSet:
        """Read the answer prompt, the re-ask prompt and `refusal.txt` and check them.

        Where the answer prompt has `$wording`, `wording_source.md` and `wording_own.md` are read
        too; where it has `$examples`, `examples.toml`. A prompt without them is sent as it is,
        whatever can be confirmed.

        Args:
            folder: Folder with your prompts; None reads the built-in ones.
            kind: "copy" reads `answer.md` and `reask.md`, "label" `labels.md` and
                `labels_reask.md`, "citations" `citations.md` and `citations_reask.md`.

        Raises:
            PromptError: A file, its version line, a placeholder, the citation rule or the
                refusal is missing, or an example breaks its own rules; the message names the
                file and what it lacks.
        """
        root = prompts_dir() if folder is None else Path(folder)
        refusal = _read(root, "refusal.txt").strip("\r\n")
        if not refusal.strip():
            raise PromptError(
                f"{root / 'refusal.txt'} holds no refusal.",
                hint="Put the one sentence there that is shown when nothing is answered.",
            )
        files = _FILES[kind]
        answer = _template(
            root, files.answer, _ANSWER_PLACEHOLDERS, files.words, optional=_ANSWER_BLOCKS
        )
        used = _placeholders(answer)
        return cls(
            answer=answer,
            reask=_template(root, files.reask, _REASK_PLACEHOLDERS, files.words),
            refusal=refusal,
            source=_wording(root, kind, used, own_words=False),
            own=_wording(root, kind, used, own_words=True),
        )

    @property
    def fingerprint_parts(self) -> tuple[str, ...]:
        """The texts that a fingerprint of the policy covers, version lines included."""
        blocks = (self.source.rules, self.source.examples, self.own.rules, self.own.examples)
        return (self.answer, self.reask, self.refusal, *filter(None, blocks))

    def system(self, refusal: str, *, own_words: bool = False) -> str:
        """Return the system prompt with the refusal string in force.

        `own_words` says that something can confirm claims in the model's own words.
        """
        wording = self.own if own_words else self.source
        return _fill(self.answer, refusal=refusal, wording=wording.rules, examples=wording.examples)

    def mend(self, *, failed: str, kept: str, note: str) -> str:
        """Return the text of a second attempt; the arguments are JSON or plain sentences.

        The template's line with `$note` is left out where there is no note.
        """
        template = self.reask
        if not note:
            template = _BLANK_LINES.sub("\n\n", _NOTE_LINE.sub("", template))
        return _fill(template, failed=failed, kept=kept, note=note)


def _body(versioned: str) -> str:
    return versioned.partition("\n")[2]


def _fill(template: str, **values: str) -> str:
    return Template(_body(template)).substitute(values).strip()


def _placeholders(template: str) -> set[str]:
    return set(Template(_body(template)).get_identifiers())


def _wording(root: Path, kind: PromptKind, used: set[str], *, own_words: bool) -> Wording:
    name = "wording_own.md" if own_words else "wording_source.md"
    rules = read_prompt(root, name) if "wording" in used else ""
    if "examples" not in used:
        return Wording(rules=rules)
    text = versioned_prompt(root, "examples.toml")
    try:
        examples = read_examples(text)
    except ValueError as error:
        raise PromptError(
            f"{root / 'examples.toml'} cannot be read: {' '.join(str(error).split())[:300]}.",
            hint=f"Compare it with the built-in one: {prompts_dir() / 'examples.toml'}",
        ) from None
    return Wording(rules=rules, examples=show_examples(examples, kind, own_words=own_words))


def _read(root: Path, name: str) -> str:
    path = root / name
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise PromptError(
            f"The prompts folder {root} has no {name}.",
            hint=f"Copy the built-in one as a start: {prompts_dir() / name}",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(
            f"{path} cannot be read: {error}.", hint="Save it as plain text in UTF-8."
        ) from None


def read_prompt(folder: Path | None, name: str) -> str:
    """Return the text of a prompt without placeholders, its version line left out.

    Raises:
        PromptError: It cannot be read, or does not start with a version comment.
    """
    root = prompts_dir() if folder is None else folder
    return _body(versioned_prompt(root, name)).strip()


def versioned_prompt(root: Path, name: str) -> str:
    """Return the whole text of a prompt whose first line says its version, or raise."""
    text = _read(root, name)
    pattern, example = _VERSION_LINE, "<!-- my prompt, version 1 -->"
    if name.endswith(".toml"):
        pattern, example = _TOML_VERSION_LINE, "# my examples, version 1"
    if not pattern.fullmatch(text.partition("\n")[0].strip()):
        raise PromptError(
            f"{root / name} does not start with a version comment.",
            hint=f"Make its first line, for example, {example}",
        )
    return text


def _template(
    root: Path,
    name: str,
    needed: frozenset[str],
    words: tuple[str, ...],
    *,
    optional: frozenset[str] = frozenset(),
) -> str:
    text = versioned_prompt(root, name)
    path = root / name
    body = _body(text)
    if not Template(body).is_valid():
        raise PromptError(
            f"{path} has a $ that begins no placeholder.", hint="Write $$ for a dollar sign."
        )
    present = _placeholders(text)
    if unknown := sorted(present - needed - optional):
        raise PromptError(
            f"{path} has unknown placeholders: {_listed(unknown)}.",
            hint=f"It may use {_listed(needed | optional)}; write $$ for a dollar sign.",
        )
    if missing := sorted(needed - present):
        raise PromptError(
            f"{path} lacks {_listed(missing)}.",
            hint=f"A {name} needs {_listed(needed)}.",
        )
    if lacking := [word for word in words if word not in body]:
        raise PromptError(
            f"{path} lacks the citation rule: it does not mention {' or '.join(lacking)}.",
            hint=f"Every claim must carry its evidence ({', '.join(words)}); say so in the prompt.",
        )
    return text


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(f"${key}" for key in sorted(keys))
