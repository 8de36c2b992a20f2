"""One narrow question to a language model, answered by a tool call; never free text."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from weakref import WeakKeyDictionary

import anyio
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from grounded_rag.config import DEFAULT_MODEL
from grounded_rag.errors import GroundedRAGError, PromptError
from grounded_rag.generate.clients import Connection, connect, provider_error, root_cause
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.responses import Ending, ending_of, usage_of
from grounded_rag.protocols import Grade
from grounded_rag.resources import prompts_dir
from grounded_rag.types import Frozen, Usage

Mode = Literal["per_claim", "holistic"]
"""One verdict a claim, or one cheap question about the answer as a whole."""

Task = Literal["per_claim", "holistic", "relevance"]

_FILES: dict[Task, str] = {
    "per_claim": "judge.md",
    "holistic": "judge_holistic.md",
    "relevance": "relevance.md",
}
_VERSION = re.compile(r"<!--.{0,120}\bversion\s+\S{1,20}\s*-->", re.IGNORECASE)
_GRADES = ("rests_on", "SUPPORTED", "CONTRADICTED", "NOT_MENTIONED")
_WORDS: dict[Task, tuple[str, ...]] = {
    "per_claim": _GRADES,
    "holistic": _GRADES,
    "relevance": ("RELEVANT", "BESIDE_THE_QUESTION"),
}


class JudgePrompt(Frozen):
    """The system prompt of a judge. It is sent as it is: nothing is ever filled into it.

    Attributes:
        text: The prompt without its version line.
        digest: First digits of the SHA-256 of the whole file, for names and fingerprints.
    """

    text: str
    digest: str

    @classmethod
    def load(cls, task: Task, folder: Path | None = None) -> JudgePrompt:
        """Read `judge.md`, `judge_holistic.md` or `relevance.md`.

        Args:
            task: What the judge is asked.
            folder: Folder of one's own prompts; None, or a folder without that file, takes the
                built-in one.

        Raises:
            PromptError: The file cannot be read, or lacks its version line or the grades.
        """
        name = _FILES[task]
        path = prompts_dir() / name
        if folder is not None and (folder / name).exists():
            path = folder / name
        try:
            whole = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise PromptError(
                f"{path} cannot be read: {error}.", hint="Save it as plain text in UTF-8."
            ) from None
        first, _, body = whole.partition("\n")
        if not _VERSION.fullmatch(first.strip()):
            raise PromptError(
                f"{path} does not start with a version comment.",
                hint="Make its first line, for example, <!-- my judge, version 1 -->",
            )
        if missing := [word for word in _WORDS[task] if word not in body]:
            raise PromptError(
                f"{path} does not mention {', '.join(missing)}.",
                hint="The judge answers with these words; say what each of them means.",
            )
        digest = hashlib.sha256(whole.encode("utf-8")).hexdigest()[:8]
        return cls(text=body.strip(), digest=digest)


_SCHEMA_GRADES = {grade.name: grade for grade in Grade}


def _decoded(value: Any) -> Any:
    """Decode JSON that arrived as a string, once; leave everything else alone."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _texts(value: Any) -> list[str]:
    """Return the texts of a list, or of a lone text; what is no text stands for no words."""
    value = _decoded(value)
    entries = value if isinstance(value, list) else [value]
    return [entry for entry in entries if isinstance(entry, str) and entry.strip()]


def _number(value: Any) -> int:
    """Return the number of a claim, or 0, which no claim has."""
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value.strip())
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _word(value: Any) -> str:
    return value.strip().upper().replace(" ", "_") if isinstance(value, str) else ""


def _items(value: Any) -> list[Any]:
    value = _decoded(value)
    entries = [value] if isinstance(value, Mapping) else value
    if not isinstance(entries, list):
        raise ValueError("verdicts are a list")  # noqa: TRY004 - pydantic collects ValueErrors
    return [entry for entry in map(_decoded, entries) if isinstance(entry, Mapping)]


Words = Annotated[
    list[str],
    BeforeValidator(_texts),
    Field(description="Words copied from the evidence without any change."),
]
# The enum is for the model that writes; an unknown word must not lose the verdicts beside it.
Verdict = Annotated[
    str, BeforeValidator(_word), Field(json_schema_extra={"enum": list(_SCHEMA_GRADES)})
]


class VerdictItem(BaseModel):
    """The verdict on one claim."""

    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"required": ["number", "rests_on", "verdict"]}
    )

    number: Annotated[int, BeforeValidator(_number), Field(description="Number of the claim.")] = 0
    rests_on: Words = []
    verdict: Verdict = ""


class JudgeAnswer(BaseModel):
    """What a judge may answer with."""

    model_config = ConfigDict(extra="ignore")


class Verdicts(JudgeAnswer):
    """One verdict for each claim, with the words of its evidence that the verdict rests on."""

    verdicts: Annotated[list[VerdictItem], BeforeValidator(_items)]


class WholeVerdict(JudgeAnswer):
    """One verdict for the answer as a whole, with words of the evidence of every claim."""

    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"required": ["rests_on", "verdict"]}
    )

    rests_on: Words = []
    verdict: Verdict = ""


class RelevanceVerdict(JudgeAnswer):
    """Whether the answer is to the point of the question."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"required": ["verdict"]})

    verdict: Annotated[
        str,
        BeforeValidator(_word),
        Field(json_schema_extra={"enum": ["RELEVANT", "BESIDE_THE_QUESTION"]}),
    ] = ""


def grade_of(word: str) -> Grade | None:
    """Return the grade that a model's word stands for, or None."""
    return _SCHEMA_GRADES.get(word)


_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Reading(Frozen):
    """What a question gave: an answer, or how it ended without one.

    Attributes:
        answer: The answer; None where it was cut, refused or could not be read.
        ending: How the last response ended.
        usage: Tokens of all calls.
    """

    answer: JudgeAnswer | None = None
    ending: Ending = Ending.UNSTATED
    usage: Usage = Usage()

    @property
    def trouble(self) -> str:
        """Why there is no answer, as one sentence."""
        return {
            Ending.CUT: "The judge's output was cut, also with twice the limit.",
            Ending.FULL: "The judge's context window is used up.",
            Ending.REFUSED: "The judge's provider declined to answer.",
        }.get(self.ending, "The judge's output could not be read.")


class Calls:
    """Calls of one model with limits.

    Temperature 0 is asked for where the provider takes it; Anthropic's current models do not.
    """

    def __init__(
        self, provider: str | None, client: Any | None, *, max_output_tokens: int, timeout: float
    ) -> None:
        """Choose model and limits; nothing is sent and no key is looked for yet."""
        self._provider = provider
        self._client = client
        self._max_output_tokens = max_output_tokens
        self._timeout = timeout
        self._takes_temperature = True
        # A client keeps connections that belong to the loop they were first used in.
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = (
            WeakKeyDictionary()
        )

    @property
    def model(self) -> str:
        """Provider and model, for names."""
        if self._client is None:
            return self._provider or f"anthropic/{DEFAULT_MODEL}"
        return self._provider or type(self._client).__name__

    def check(self) -> None:
        """Find out, without sending anything, whether the provider could be used at all.

        Raises:
            MissingKeyError: There are no credentials.
            MissingExtraError: The provider's package is not installed.
            ConfigError: The provider is not known.
        """
        connect(self._provider, self._client)

    async def ask(self, system: str, body: dict[str, Any], shape: type[JudgeAnswer]) -> Reading:
        """Ask once; a cut answer is asked for once more with twice the room.

        Args:
            system: The prompt, sent as it is.
            body: What is asked about, sent as JSON: data, whatever it says.
            shape: What comes back.

        Raises:
            MissingKeyError: There are no credentials.
            MissingExtraError: The provider's package is not installed.
            ProviderError: The call failed.
        """
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = connect(self._provider, self._client)
        connection = self._connections[loop]
        messages = BuiltMessages(system=system, blocks=(as_json(body),), labels={})
        reading = await self._call(connection, messages, shape, self._max_output_tokens)
        if reading.ending is not Ending.CUT:
            return reading
        again = await self._call(connection, messages, shape, 2 * self._max_output_tokens)
        return again.model_copy(update={"usage": reading.usage + again.usage})

    async def _call(
        self, connection: Connection, messages: BuiltMessages, shape: type[JudgeAnswer], limit: int
    ) -> Reading:
        responses: list[Any] = []
        steady = self._takes_temperature and not connection.anthropic
        answer: JudgeAnswer | None = None
        try:
            with anyio.fail_after(self._timeout):
                answer = await connection.call(
                    messages,
                    shape,
                    max_output_tokens=limit,
                    on_response=responses.append,
                    options={"temperature": 0} if steady else None,
                )
        except GroundedRAGError:
            raise
        except Exception as error:
            # instructor wraps whatever happens; without a response, the call itself failed.
            cause = root_cause(error)
            if not responses and steady and "temperature" in str(cause).lower():
                self._takes_temperature = False
                return await self._call(connection, messages, shape, limit)
            if not responses:
                raise provider_error(cause, connection.provider) from error
        # The stop reason comes first: an answer that was cut or refused is never read.
        response = responses[-1] if responses else None
        ending = ending_of(response)
        return Reading(
            answer=answer if ending in (Ending.COMPLETE, Ending.UNSTATED) else None,
            ending=ending,
            usage=sum((usage_of(each) for each in responses), Usage()),
        )


def as_json(body: dict[str, Any]) -> str:
    """Return `body` as JSON text; lone surrogates, which cannot be sent, become U+FFFD."""
    return _SURROGATE.sub("\ufffd", json.dumps(body, ensure_ascii=False, indent=1))
