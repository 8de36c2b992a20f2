"""A run on disk, and what it was made with.

A run is a folder with `run.json` and an append-only `records.jsonl` that survives a crash.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
import os
import types
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Self, Unpack

from pydantic import JsonValue, ValidationError

from grounded_rag.config import Policy
from grounded_rag.errors import ConfigError, InputError
from grounded_rag.evaluation.records import (
    CheckIdentity,
    EvalRecord,
    IndexIdentity,
    Prices,
    RunMeta,
    migrated,
)
from grounded_rag.options import Options as RAGOptions
from grounded_rag.options import make_parts
from grounded_rag.protocols import Query, SupportCheck
from grounded_rag.rag import GroundedRAG
from grounded_rag.types import RetrievedChunk
from grounded_rag.verification.checks import Staged, stages
from grounded_rag.version import __version__

META = "run.json"
RECORDS = "records.jsonl"


class Run:
    """A folder with one run. One process may append to it; any number may read."""

    def __init__(self, folder: Path, meta: RunMeta) -> None:
        self.folder = folder
        self.meta = meta
        self._file: io.BufferedWriter | None = None

    @classmethod
    def create(cls, folder: Path | str, meta: RunMeta) -> Self:
        """Start a run in a folder that holds none.

        Raises:
            InputError: There is a run already, or the folder cannot be written.
        """
        folder = Path(folder)
        if (folder / META).exists():
            raise InputError(
                f"There is a run in {folder} already.",
                hint="Name another folder, or continue that run.",
            )
        run = cls(folder, meta)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            run.rewrite(meta)
            (folder / RECORDS).touch()
        except OSError as error:
            raise InputError(
                f"{folder} cannot be written: {error.strerror}.", hint="Name another folder."
            ) from error
        return run

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Open a run that is there.

        Raises:
            InputError: There is none, or it cannot be read.
        """
        folder = Path(folder)
        try:
            text = (folder / META).read_text(encoding="utf-8")
            return cls(folder, RunMeta.model_validate_json(text))
        except FileNotFoundError as error:
            raise InputError(
                f"There is no run in {folder}.", hint="Name the folder that `eval --run` wrote."
            ) from error
        except (OSError, ValueError) as error:
            raise InputError(
                f"{folder / META} is no run: {_first_line(error)}",
                hint="Name the folder that `eval --run` wrote.",
            ) from error

    @staticmethod
    def exists(folder: Path | str) -> bool:
        """Whether there is a run in a folder."""
        return (Path(folder) / META).is_file()

    def rewrite(self, meta: RunMeta) -> None:
        """Replace what is said about the run; the records stay."""
        self.meta = meta
        write_whole(self.folder / META, [meta.model_dump_json(indent=2).encode() + b"\n"])

    def append(self, record: EvalRecord, *, durable: bool = True) -> None:
        """Write one record.

        Args:
            record: The record.
            durable: Whether it is on the disk when this returns, or only handed to the system.

        Raises:
            InputError: The folder cannot be written.
        """
        try:
            if self._file is None:
                _cut_unfinished_line(self.folder / RECORDS)
                self._file = (self.folder / RECORDS).open("ab")
            self._file.write(_line(record))
            if durable:
                self._file.flush()
                os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(
                f"{self.folder / RECORDS} cannot be written: {error.strerror}.",
                hint="Make room, then continue the run: what is recorded stays.",
            ) from error

    def records(self) -> Iterator[EvalRecord]:
        """Yield the records in the order in which they were written, one in memory at a time.

        A last line that a crash cut short is left out, and so is a second record of an item, which
        two processes that continue one run at once would leave: nothing counts twice.

        Raises:
            InputError: Another line cannot be read; the message names it.
        """
        seen: set[str] = set()
        with (self.folder / RECORDS).open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    return
                try:
                    record = _record(line)
                except ValueError as error:
                    raise InputError(
                        f"{self.folder / RECORDS} line {number} is no record: {_first_line(error)}",
                        hint="Delete that line; its question is then asked again.",
                    ) from error
                if record.item.id not in seen:
                    seen.add(record.item.id)
                    yield record

    def resume(self) -> frozenset[str]:
        """Return the ids of the items that are done, and forget those that could not be scored."""
        self.close()
        found = [(record.item.id, record.unscored) for record in self.records()]
        if any(unscored for _, unscored in found):
            write_whole(
                self.folder / RECORDS,
                (_line(record) for record in self.records() if not record.unscored),
            )
        return frozenset(name for name, unscored in found if not unscored)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Replace a file: a crash leaves it whole or as it was.

    Raises:
        OSError: It cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _line(record: EvalRecord) -> bytes:
    return record.model_dump_json().encode() + b"\n"


def _record(line: bytes) -> EvalRecord:
    try:
        return EvalRecord.model_validate_json(line)
    except ValidationError as error:
        try:
            return EvalRecord.model_validate_json(migrated(line))
        except ValueError:
            # It is no record of an earlier version either: what this one misses says more.
            raise error from None


def _cut_unfinished_line(path: Path) -> None:
    """Cut off a last line that a crash left without its end."""
    if path.exists():
        with path.open("r+b") as file:
            # Only the last line can lack its end.
            kept = sum(len(line) for line in file if line.endswith(b"\n"))
            file.truncate(kept)


def _first_line(error: Exception) -> str:
    return str(error).split("\n", maxsplit=1)[0]


def policy_of(meta: RunMeta, **changes: JsonValue) -> Policy:
    """Return the policy of a run, with fields changed, such as one whose value no longer exists.

    Raises:
        InputError: Another version of the package made the run, with rules unknown here.
    """
    try:
        return Policy.model_validate({**meta.policy, **changes})
    except ConfigError as error:
        raise InputError(
            f"The run {meta.id} was made under a policy that is no more. {error.message}",
            hint="Judge it again with "
            "`grounded-rag eval --replay RUN --settings policy.support=strict`.",
        ) from error
    except ValidationError as error:
        raise InputError(
            f"The run {meta.id} has a policy that this version does not know.",
            hint=f"It was made by version {meta.package_version or 'unknown'}.",
        ) from error


class _NoRetriever:
    """A retriever for parts that are never asked."""

    async def retrieve(self, query: Query) -> Sequence[RetrievedChunk]:  # noqa: ARG002
        return ()


def policy_fingerprint(**options: Unpack[RAGOptions]) -> str:
    """Return the fingerprint that answers made with these options carry.

    Raises:
        ConfigError: Options do not fit together.
    """
    return make_parts(_NoRetriever(), options).fingerprint


def fingerprint_of(path: Path | str) -> str:
    """Return the fingerprint of the policy under which something was made.

    It is read from the folder of a run, or from a JSON file with an answer or a receipt.

    Raises:
        InputError: It cannot be read, or says nothing about its policy.
    """
    path = Path(path)
    hint = "Give a run folder, an answer from `ask --json`, or a receipt."
    found: Any = None
    if Run.exists(path):
        found = Run.open(path).meta.fingerprint
    else:
        try:
            body = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{path} cannot be read: {error}.", hint=hint) from error
        if isinstance(body, dict):
            found = body.get("fingerprint")
    if not isinstance(found, str) or not found:
        raise InputError(f"{path} does not say under which policy it was made.", hint=hint)
    return found


_TEXTS_KEPT = 256


def meta_of(
    rag: GroundedRAG,
    *,
    golden: str,
    golden_hash: str,
    items: int,
    split: str,
    prices: Prices | None,
    threshold: float | None,
) -> RunMeta:
    """Return what a run over `rag` is made with."""
    parts = rag._parts
    return RunMeta(
        id=new_id(),
        started=dt.datetime.now(dt.UTC),
        package_version=__version__,
        golden=golden,
        golden_hash=golden_hash,
        items=items,
        split=split,
        generator=_generator_name(rag),
        policy=parts.policy.model_dump(mode="json"),
        fingerprint=parts.fingerprint,
        refusal=parts.refusal,
        verifier=verifier_fingerprint(),
        checks=check_identities(parts.rules.checks),
        # Their names carry their versions.
        deciders=tuple(
            CheckIdentity(name=name, fingerprint=model.name)
            for name, model in (
                ("entailment", parts.rules.entailment),
                ("judge", parts.rules.judge),
            )
            if model is not None
        ),
        index=_index_identity(rag),
        prices=prices,
        relevance_threshold=threshold,
    )


def _generator_name(rag: GroundedRAG) -> str:
    parts = rag._parts
    for attribute in ("name", "model"):
        value = getattr(parts.generator, attribute, None)
        if isinstance(value, str) and value:
            return value
    return parts.generator_name


def new_id() -> str:
    """Return a name for a run that sorts by time."""
    now = dt.datetime.now(dt.UTC)
    return f"{now:%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"


def _index_identity(rag: GroundedRAG) -> IndexIdentity:
    """Return what is searched; an object made from a retriever alone does not say."""
    opened = rag._index
    if opened is None:
        return IndexIdentity(name=type(rag._parts.retriever).__name__)
    status = opened.index.status()
    digest = hashlib.sha256()
    for doc_id, state in sorted(opened.index.states().items()):
        digest.update(f"{doc_id}\x00{state.content_hash}\x00".encode("utf-8", "surrogatepass"))
    embedding = status.embedding
    return IndexIdentity(
        name=str(opened.path),
        documents=status.documents,
        chunks=status.chunks,
        embedding="" if embedding is None else embedding.name,
        content_hash=digest.hexdigest(),
    )


def text_reader(rag: GroundedRAG) -> Callable[[str], str | None] | None:
    """Return a function that gives the text of a document, or None without an index."""
    opened = rag._index
    if opened is None:
        return None

    @lru_cache(maxsize=_TEXTS_KEPT)
    def text_of(doc_id: str) -> str | None:
        document = opened.index.document(doc_id)
        return None if document is None else document.text

    return text_of


_VERIFIER = ("verification", "text", "types", "data", "decision.py", "validity.py")


@cache
def verifier_fingerprint() -> str:
    """Return the SHA-256, hexadecimal, over code and word lists that judge claims and decide."""
    digest = hashlib.sha256()
    package = resources.files("grounded_rag")
    for name in _VERIFIER:
        for path, data in sorted(_sources(package.joinpath(name), name)):
            digest.update(path.encode() + b"\x00" + data)
    return digest.hexdigest()


def _sources(node: resources.abc.Traversable, path: str) -> Iterable[tuple[str, bytes]]:
    if node.is_file():
        if path.endswith((".py", ".toml")):
            yield path, node.read_bytes()
        return
    for child in node.iterdir():
        yield from _sources(child, f"{path}/{child.name}")


def check_name(check: SupportCheck) -> str:
    """Return a check's `name`, or the name of its function or class.

    Its recorded signals are found by this name, so `Signal.check` should equal it.
    """
    name = getattr(check, "name", None) or getattr(check, "__name__", None)
    return name if isinstance(name, str) else type(check).__name__


def check_identities(checks: Sequence[SupportCheck] | None) -> tuple[CheckIdentity, ...]:
    """Return what distinguishes each check and its version; None means the built-in checks.

    A check may say so itself, by an attribute `fingerprint` or `version`. A function is known by
    its code. An object that says nothing is never taken for the same again.
    """
    return tuple(
        CheckIdentity(name=check_name(check), fingerprint=_fingerprint(check))
        for check in all_checks(checks)
    )


def all_checks(checks: Sequence[SupportCheck] | None) -> tuple[SupportCheck, ...]:
    """Return the given checks, or the built-in ones for None."""
    return stages(None).first if checks is None else tuple(checks)


def _fingerprint(check: SupportCheck) -> str:
    for attribute in ("fingerprint", "version"):
        value = getattr(check, attribute, None)
        if isinstance(value, str) and value:
            return value
    if isinstance(check, Staged):
        inner = _fingerprint(check.check)
        return f"{check.role} {check.only_open} {inner}" if inner else ""
    if (getattr(check, "__module__", "") or "").startswith("grounded_rag.verification."):
        return verifier_fingerprint()
    code = getattr(check, "__code__", None)
    if isinstance(code, types.CodeType) and not getattr(check, "__closure__", None):
        return hashlib.sha256(_code(code)).hexdigest()
    return ""


def _code(code: types.CodeType) -> bytes:
    parts = [code.co_code, repr(code.co_names).encode(), repr(code.co_varnames).encode()]
    for constant in code.co_consts:
        nested = isinstance(constant, types.CodeType)
        parts.append(_code(constant) if nested else repr(constant).encode())
    return b"\x00".join(parts)
