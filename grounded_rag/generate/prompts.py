"""The prompts of the structured generator, loaded from a folder and checked before use."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import Literal, NamedTuple

from grounded_rag.errors import PromptError
from grounded_rag.resources import prompts_dir
from grounded_rag.types import Frozen

_VERSION = re.compile(r"<!--.{0,120}\bversion\s+\S{1,20}\s*-->", re.IGNORECASE)
_ANSWER_PLACEHOLDERS = frozenset({"refusal"})
_REASK_PLACEHOLDERS = frozenset({"failed", "kept", "note"})

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


class PromptSet(Frozen):
    """The texts that a structured generator sends, apart from passages and question.

    Documents, questions and claims never pass through a template: values are inserted once,
    after the template was read, so a `$` in them stays a `$`.

    Attributes:
        answer: Template of the system prompt, with `$refusal`.
        reask: Template of the second attempt, with `$failed`, `$kept` and `$note`.
        refusal: The refusal string of this folder.
    """

    answer: str
    reask: str
    refusal: str

    @classmethod
    def load(cls, folder: Path | None = None, *, kind: PromptKind = "copy") -> PromptSet:
        """Read the answer prompt, the re-ask prompt and `refusal.txt` and check them.

        Args:
            folder: Folder of one's own prompts; None reads the built-in ones.
            kind: "copy" reads `answer.md` and `reask.md`, "label" `labels.md` and
                `labels_reask.md`, "citations" `citations.md` and `citations_reask.md`.

        Raises:
            PromptError: A file, its version line, a placeholder, the citation rule or the
                refusal is missing; the message names the file and what it lacks.
        """
        root = prompts_dir() if folder is None else Path(folder)
        refusal = _read(root, "refusal.txt").strip("\r\n")
        if not refusal.strip():
            raise PromptError(
                f"{root / 'refusal.txt'} holds no refusal.",
                hint="Put the one sentence there that is shown when nothing is answered.",
            )
        files = _FILES[kind]
        return cls(
            answer=_template(root, files.answer, _ANSWER_PLACEHOLDERS, files.words),
            reask=_template(root, files.reask, _REASK_PLACEHOLDERS, files.words),
            refusal=refusal,
        )

    @property
    def fingerprint_parts(self) -> tuple[str, ...]:
        """The texts that a fingerprint of the policy covers, version lines included."""
        return (self.answer, self.reask, self.refusal)

    def system(self, refusal: str) -> str:
        """Return the system prompt with the refusal string in force."""
        return _fill(self.answer, refusal=refusal)

    def mend(self, *, failed: str, kept: str, note: str) -> str:
        """Return the text of a second attempt; the arguments are JSON or plain sentences."""
        return _fill(self.reask, failed=failed, kept=kept, note=note)


def _fill(template: str, **values: str) -> str:
    _, _, body = template.partition("\n")
    return Template(body).substitute(values).strip()


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
    if not _VERSION.fullmatch(text.partition("\n")[0].strip()):
        raise PromptError(
            f"{root / name} does not start with a version comment.",
            hint="Make its first line, for example, <!-- my prompt, version 1 -->",
        )
    return text


def _template(root: Path, name: str, known: frozenset[str], words: tuple[str, ...]) -> str:
    text = _versioned(root, name)
    path = root / name
    _, _, body = text.partition("\n")
    template = Template(body)
    if not template.is_valid():
        raise PromptError(
            f"{path} has a $ that begins no placeholder.", hint="Write $$ for a dollar sign."
        )
    present = set(template.get_identifiers())
    listed = ", ".join(f"${key}" for key in sorted(known))
    if unknown := sorted(present - known):
        raise PromptError(
            f"{path} has unknown placeholders: {', '.join(f'${key}' for key in unknown)}.",
            hint=f"It may use {listed}; write $$ for a dollar sign.",
        )
    if missing := sorted(known - present):
        raise PromptError(
            f"{path} lacks {', '.join(f'${key}' for key in missing)}.",
            hint=f"A {name} needs {listed}.",
        )
    if lacking := [word for word in words if word not in body]:
        raise PromptError(
            f"{path} lacks the citation rule: it does not mention {' or '.join(lacking)}.",
            hint=f"Every claim must carry its evidence ({', '.join(words)}); say so in the prompt.",
        )
    return text
