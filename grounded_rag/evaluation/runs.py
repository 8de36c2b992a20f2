"""A run on disk: `run.json` and an append-only `records.jsonl` that survives a crash."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from pydantic import JsonValue, ValidationError

from grounded_rag.config import Policy
from grounded_rag.errors import ConfigError, InputError
from grounded_rag.evaluation.records import EvalRecord, RunMeta, migrated
from grounded_rag.options import Options, make_parts
from grounded_rag.protocols import Query
from grounded_rag.types import RetrievedChunk

META = "run.json"
RECORDS = "records.jsonl"


class Run:
    """A folder with one run. One process may append to it; any number may read.

    Attributes:
        folder: The folder.
        meta: What the run was made with.
    """

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
            _write_whole(folder / META, meta.model_dump_json(indent=2).encode() + b"\n")
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
        _write_whole(self.folder / META, meta.model_dump_json(indent=2).encode() + b"\n")

    def append(self, record: EvalRecord, *, durable: bool = True) -> None:
        """Write one record.

        Args:
            record: The record.
            durable: Whether it is on the disk when this returns, or only handed to the system.

        Raises:
            InputError: The folder cannot be written.
        """
        line = record.model_dump_json().encode() + b"\n"
        try:
            if self._file is None:
                mend(self.folder / RECORDS)
                self._file = (self.folder / RECORDS).open("ab")
            self._file.write(line)
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
        """Return the ids of the items that are done, and forget those that could not be scored.

        The file is replaced whole, so a crash in the middle loses nothing.
        """
        self.close()
        path = self.folder / RECORDS
        done: set[str] = set()
        failed = False
        part = path.with_name(f"{path.name}.part")
        with part.open("wb") as kept:
            for record in self.records():
                if record.unscored:
                    failed = True
                    continue
                done.add(record.item.id)
                kept.write(record.model_dump_json().encode() + b"\n")
            kept.flush()
            os.fsync(kept.fileno())
        if failed:
            part.replace(path)
        else:
            part.unlink()
        return frozenset(done)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _record(line: bytes) -> EvalRecord:
    try:
        return EvalRecord.model_validate_json(line)
    except ValidationError as error:
        try:
            return EvalRecord.model_validate_json(migrated(line))
        except ValueError:
            # It is no record of an earlier version either: what this one misses says more.
            raise error from None


def mend(path: Path) -> None:
    """Cut off a last line that a crash left without its end."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        if end == 0:
            return
        position, tail = end, b""
        while position > 0 and b"\n" not in tail:
            step = min(65_536, position)
            position -= step
            file.seek(position)
            tail = file.read(step) + tail
        kept = position + tail.rfind(b"\n") + 1
        if kept != end:
            file.truncate(kept)


def _write_whole(path: Path, data: bytes) -> None:
    """Write a small file so that a crash leaves it whole or absent."""
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _first_line(error: Exception) -> str:
    return str(error).split("\n", maxsplit=1)[0]


def policy_of(meta: RunMeta, **changes: JsonValue) -> Policy:
    """Return the policy of a run.

    Args:
        meta: The run.
        **changes: Fields to change, such as one whose value is not known any more.

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


class _Nothing:
    """A retriever for parts that are never asked."""

    async def retrieve(self, query: Query) -> Sequence[RetrievedChunk]:  # noqa: ARG002
        return ()


def policy_fingerprint(**options: Unpack[Options]) -> str:
    """Return the fingerprint that answers made with these options carry.

    Args:
        options: See `Options`; none stands for the defaults.

    Raises:
        ConfigError: Options do not fit together.
    """
    return make_parts(_Nothing(), options).fingerprint


def fingerprint_of(path: Path | str) -> str:
    """Return the fingerprint of the policy under which something was made.

    Args:
        path: Folder of a run, or a JSON file with an answer or a receipt.

    Raises:
        InputError: It cannot be read, or says nothing about its policy.
    """
    path = Path(path)
    if path.is_dir() and (path / META).exists():
        found: Any = Run.open(path).meta.fingerprint
    else:
        found = _field(path)
    if not isinstance(found, str) or not found:
        raise InputError(
            f"{path} does not say under which policy it was made.",
            hint="Give a run folder, an answer from `ask --json`, or a receipt.",
        )
    return found


def _field(path: Path) -> Any:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read: {error}.",
            hint="Give a run folder, an answer from `ask --json`, or a receipt.",
        ) from error
    return body.get("fingerprint") if isinstance(body, dict) else None
