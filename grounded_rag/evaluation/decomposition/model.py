"""Splitting claims by a language model; code checks that nothing got lost and nothing came in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from pydantic import BaseModel, ConfigDict, Field

from grounded_rag.errors import GroundedRAGError, PromptError
from grounded_rag.evaluation.decomposition.judging import Atoms, Decomposed, split_claim
from grounded_rag.generate.clients import Connection, connect
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.provider_errors import provider_error, root_cause
from grounded_rag.generate.responses import Ending, ending_of, usage_of
from grounded_rag.resources import prompts_dir
from grounded_rag.text.words import content_words
from grounded_rag.types import Usage

_NAME = "decompose.md"
_MOST_PARTS = 40


class SplitClaim(BaseModel):
    """One claim in parts."""

    model_config = ConfigDict(extra="ignore")

    number: int = Field(description="Number of the claim, as given.")
    parts: list[str] = Field(description="Its parts, in order; the claim itself if it is one.")


class AtomicClaims(BaseModel):
    """The claims, each split into parts that can be checked alone."""

    model_config = ConfigDict(extra="ignore")

    claims: list[SplitClaim]


class ModelDecomposer:
    """Asks a language model for the parts of claims.

    What it returns is not trusted. Where the parts together lack a word or number of the claim,
    the claim itself is judged as a further part, so that no error can hide in what was left out;
    where they bring in something that neither claim nor question says, the claim is split by
    rules instead. So it is, too, where the output cannot be read, was cut or refused.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        client: Any | None = None,
        prompts: Path | str | None = None,
        max_output_tokens: int = 2_048,
        timeout: float = 60.0,
    ) -> None:
        """Choose a model; nothing is sent and no key is looked for yet.

        Args:
            model: "provider/model", as for a generator; by default the default model.
            client: Your own client; see `StructuredGenerator`.
            prompts: Folder with a `decompose.md` of your own.
            max_output_tokens: Limit of one output.
            timeout: Most seconds for one call.

        Raises:
            PromptError: There is no readable prompt, or it has no version line.
        """
        self._model = model
        self._client = client
        self._prompt = _load(prompts_dir() if prompts is None else Path(prompts))
        self._max_output_tokens = max_output_tokens
        self._timeout = timeout
        # A client keeps connections that belong to the loop they were first used in.
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = (
            WeakKeyDictionary()
        )

    @property
    def name(self) -> str:
        """Model, and the version line of the prompt."""
        version, _, _ = self._prompt.partition("\n")
        return f"{self._model or 'default model'} ({version.strip('<!-> ')})"

    async def decompose(self, claims: Sequence[str], *, question: str | None = None) -> Decomposed:
        """Return the parts of each claim, in order; one call for all of them.

        Raises:
            MissingKeyError: There are no credentials.
            ProviderUnavailableError: Overloaded, unreachable or out of time.
            ProviderError: Any other failure of the provider.
        """
        if not claims:
            return Decomposed(claims=())
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = connect(self._model, self._client)
        connection = self._connections[loop]
        responses: list[Any] = []
        parsed: AtomicClaims | None = None
        try:
            with anyio.fail_after(self._timeout):
                parsed = await connection.call(
                    self._messages(claims, question),
                    AtomicClaims,
                    max_output_tokens=self._max_output_tokens,
                    on_response=responses.append,
                )
        except GroundedRAGError:
            raise
        except Exception as error:
            # instructor wraps whatever happens; without a response, the call itself failed.
            if not responses:
                raise provider_error(root_cause(error), connection.provider) from error
        # The stop reason comes first: parts of a cut output may lack the last ones.
        ending = ending_of(responses[-1] if responses else None)
        if ending not in (Ending.COMPLETE, Ending.UNSTATED):
            parsed = None
        by_number = {entry.number: entry.parts for entry in parsed.claims} if parsed else {}
        return Decomposed(
            claims=tuple(
                checked_parts(claim, by_number.get(number, ()), question=question)
                for number, claim in enumerate(claims, start=1)
            ),
            usage=sum((usage_of(each) for each in responses), Usage()),
        )

    def _messages(self, claims: Sequence[str], question: str | None) -> BuiltMessages:
        _, _, system = self._prompt.partition("\n")
        numbered = [{"number": at, "text": text} for at, text in enumerate(claims, start=1)]
        # Escaped, so that lone surrogates can be sent and nothing looks like a marker.
        data = json.dumps({"question": question, "claims": numbered}, ensure_ascii=True, indent=1)
        return BuiltMessages(system=system.strip(), blocks=(data,), labels={})


def checked_parts(claim: str, parts: Sequence[str], *, question: str | None = None) -> Atoms:
    """Return the parts that a model gave, made safe.

    Args:
        claim: The claim.
        parts: What the model says it consists of; none means that it said nothing.
        question: The question, whose names may stand for pronouns.
    """
    given = tuple(part.strip() for part in parts if part.strip())
    known = _content(f"{claim} {question or ''}")
    if not given or len(given) > _MOST_PARTS or _content(" ".join(given)) - known:
        return split_claim(claim)
    if len(given) == 1:
        return Atoms(claim=claim, parts=(claim,))
    lost = _content(claim) - _content(" ".join(given))
    return Atoms(claim=claim, parts=(*given, claim) if lost else given)


def _content(text: str) -> frozenset[str]:
    """Return the content words of a text by stem, with negations, which no split may lose."""
    stems = {word.stem for word in content_words(text)}
    lowered = f" {' '.join(text.lower().replace('’', chr(39)).split())} "
    denials = {word for word in ("not", "never", "no", "without", "unless", "only", "except")
               if f" {word} " in lowered}  # fmt: skip
    if "n't " in lowered:
        denials.add("not")
    return frozenset(stems | denials)


def _load(folder: Path) -> str:
    path = folder / _NAME
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(
            f"{path} cannot be read: {error}.",
            hint=f"Copy the built-in one as a start: {prompts_dir() / _NAME}",
        ) from error
    first, _, body = text.partition("\n")
    if not first.startswith("<!--") or "version" not in first or not body.strip():
        raise PromptError(
            f"{path} does not start with a version comment.",
            hint="Make its first line, for example, <!-- my prompt, version 1 -->",
        )
    return text
