"""The prompts of the structured generator, loaded from a folder and checked before use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from string import Template
from typing import Literal, NamedTuple

from grounded_rag.errors import PromptError
from grounded_rag.generate.examples import read_examples, show_examples
from grounded_rag.resources import prompts_dir
from grounded_rag.types import Frozen

_VERSION = re.compile(r"<!--.{0,120}\bversion\s+\S{1,20}\s*-->", re.IGNORECASE)
_TOML_VERSION = re.compile(r"#.{0,120}\bversion\s+\S{1,20}", re.IGNORECASE)
_ANSWER_PLACEHOLDERS = frozenset({"refusal"})
_ANSWER_BLOCKS = frozenset({"wording", "examples"})
_REASK_PLACEHOLDERS = frozenset({"failed", "kept", "note"})
_NOTE_LINE = re.compile(r"(?m)^.*\$(?:note\b|\{note\}).*\n?")
_BLANK_LINES = re.compile(r"\n{3,}")

PromptKind = Literal["copy", "label", "citations"]
"""How evidence is pointed at: quotes copied, sentences by label, or the provider's citations."""


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
    """What a prompt says about the words of a claim.

    Attributes:
        rules: Text in the place of `$wording`.
        examples: Text in the place of `$examples`.
    """

    rules: str = ""
    examples: str = ""


class PromptSet(Frozen):
    """The texts that a structured generator sends, apart from passages and question.

    Documents, questions and claims never pass through a template: values are inserted once,
    after the template was read, so a `$` in them stays a `$`.

    Attributes:
        answer: Template of the system prompt, with `$refusal`; it may have `$wording` and
            `$examples`.
        reask: Template of the second attempt, with `$failed`, `$kept` and `$note`.
        refusal: The refusal string of this folder.
        source: Wording where nothing can confirm a claim in the model's own words.
        own: Wording where something can.
    """

    answer: str
    reask: str
    refusal: str
    source: Wording = Wording()
    own: Wording = Wording()

    @classmethod
    def load(cls, folder: Path | None = None, *, kind: PromptKind = "copy") -> PromptSet:
        """Read the answer prompt, the re-ask prompt and `refusal.txt` and check them.

        Where the answer prompt has `$wording`, `wording_source.md` and `wording_own.md` are read
        too; where it has `$examples`, `examples.toml`. A prompt without them is sent as it is,
        whatever can be confirmed.

        Args:
            folder: Folder of one's own prompts; None reads the built-in ones.
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

        Args:
            refusal: The refusal string.
            own_words: Whether something can confirm claims in the model's own words.
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


def _fill(template: str, **values: str) -> str:
    _, _, body = template.partition("\n")
    return Template(body).substitute(values).strip()


def _placeholders(template: str) -> set[str]:
    _, _, body = template.partition("\n")
    return set(Template(body).get_identifiers())


def _wording(root: Path, kind: PromptKind, used: set[str], *, own_words: bool) -> Wording:
    """Return the blocks that an answer prompt asks for, in one of the two wordings."""
    name = "wording_own.md" if own_words else "wording_source.md"
    rules = read_prompt(root, name) if "wording" in used else ""
    if "examples" not in used:
        return Wording(rules=rules)
    text = _versioned(root, "examples.toml")
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

    Args:
        folder: Folder of one's own prompts; None reads the built-in one.
        name: Name of the file.

    Raises:
        PromptError: It cannot be read, or does not start with a version comment.
    """
    root = prompts_dir() if folder is None else folder
    _, _, body = _versioned(root, name).partition("\n")
    return body.strip()


def _versioned(root: Path, name: str) -> str:
    text = _read(root, name)
    pattern, example = _VERSION, "<!-- my prompt, version 1 -->"
    if name.endswith(".toml"):
        pattern, example = _TOML_VERSION, "# my examples, version 1"
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
    text = _versioned(root, name)
    path = root / name
    _, _, body = text.partition("\n")
    template = Template(body)
    if not template.is_valid():
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
