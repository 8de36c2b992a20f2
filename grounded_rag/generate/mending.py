"""The text of a second attempt: what failed, why, and what it can be mended from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from grounded_rag.generate.passages import clip, sendable
from grounded_rag.generate.prompts import PromptSet
from grounded_rag.generate.readable import readable
from grounded_rag.protocols import FailedClaim, Reask
from grounded_rag.types import Citation, Claim, Reason

_MAX_CLAIMS = 8
_MAX_WORDS = 24
_NO_LABEL = (Reason.UNKNOWN_CHUNK, Reason.AMBIGUOUS_CHUNK)


class KnownLabels:
    """What the model of one request knows chunks and, in label mode, sentences by."""

    def __init__(
        self, label_of: Mapping[str, str], sentences: Mapping[str, Citation] | None = None
    ) -> None:
        """Take what the request shows.

        Args:
            label_of: Label of each passage by chunk id.
            sentences: What each sentence's label stands for; None where quotes are copied.
        """
        self._label_of = label_of
        self._sentences = sentences
        self._ids = sorted((key for key in label_of if len(key) > 3), key=len, reverse=True)

    @property
    def by_sentence(self) -> bool:
        """Whether the model names sentences instead of copying quotes."""
        return self._sentences is not None

    def chunk(self, chunk_id: str) -> str:
        """Return the label of a chunk; what is none stays as it is."""
        return self._label_of.get(chunk_id, chunk_id)

    def place(self, citation: Citation) -> list[str]:
        """Return the labels of the sentences that a quote is, stands in or takes in.

        Where there is none, what the model wrote as a label stays, and a chunk gets its own.
        """
        quote = _one_line(citation.quote)
        sentences = {
            label: _one_line(sentence.quote)
            for label, sentence in (self._sentences or {}).items()
            if sentence.chunk_id == citation.chunk_id
        }
        # A short sentence may stand in a longer one: the closest reading wins.
        for fits in (str.__eq__, str.__contains__, _stands_in):
            if named := [label for label, one in sentences.items() if fits(one, quote)]:
                return named
        return [self.chunk(citation.chunk_id)]

    def relabel(self, text: str) -> str:
        """Put labels for chunk ids, longest first: the model knows labels only."""
        for chunk_id in self._ids:
            text = text.replace(chunk_id, self._label_of[chunk_id])
        return text

    def listed(self) -> str:
        """Return the labels of all sentences, as one range a passage."""
        ends: dict[str, tuple[str, str]] = {}
        for label, sentence in (self._sentences or {}).items():
            first, _ = ends.get(sentence.chunk_id, (label, label))
            ends[sentence.chunk_id] = (first, label)
        return ", ".join(
            first if first == last else f"{first} to {last}" for first, last in ends.values()
        )


def mending(reask: Reask, prompts: PromptSet, known: KnownLabels) -> str:
    """Return the text of a second attempt; its size has a limit that no draft can move.

    Args:
        reask: What to mend.
        prompts: The prompts.
        known: What the model knows passages and sentences by.
    """
    failed = [_failed(item, known) for item in reask.failed[:_MAX_CLAIMS]]
    kept = [_claim(claim, known) for claim in reask.kept[:_MAX_CLAIMS]]
    return prompts.mend(failed=_json(failed), kept=_json(kept), note=sendable(clip(reask.note)))


def _failed(item: FailedClaim, known: KnownLabels) -> dict[str, Any]:
    entry = _claim(item.claim, known)
    entry["problem"] = clip(_problem(item, known))
    if item.apart:
        entry["apart"] = [clip(word) for word in item.apart[:_MAX_WORDS]]
    if item.nearest is not None:
        chunk_id = item.chunk_id or ""
        where: dict[str, Any] = {"chunk_id": clip(known.chunk(chunk_id))}
        if known.by_sentence:
            labels = known.place(Citation(chunk_id=chunk_id, quote=item.nearest))
            where = {"sentences": [clip(label) for label in labels[:_MAX_CLAIMS]]}
        entry["nearest"] = {**where, "text": clip(readable(item.nearest))}
    return entry


def _problem(item: FailedClaim, known: KnownLabels) -> str:
    if known.by_sentence and item.reason in _NO_LABEL:
        # The verifier's words list the ids of chunks, and a sentence is what has to be named.
        return f"It names a sentence that does not exist; the labels are {known.listed()}."
    return known.relabel(item.detail or item.reason.value)


def _claim(claim: Claim, known: KnownLabels) -> dict[str, Any]:
    cited = claim.citations[:_MAX_CLAIMS]
    arithmetic = {"arithmetic": clip(claim.arithmetic)} if claim.arithmetic else {}
    if known.by_sentence:
        labels = dict.fromkeys(clip(label) for each in cited for label in known.place(each))
        return {"text": clip(claim.text), "sentences": [*labels][:_MAX_CLAIMS], **arithmetic}
    return {
        "text": clip(claim.text),
        "citations": [
            {"chunk_id": clip(known.chunk(each.chunk_id)), "quote": clip(each.quote)}
            for each in cited
        ],
        **arithmetic,
    }


def _stands_in(sentence: str, quote: str) -> bool:
    return sentence in quote


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _json(values: Sequence[Any]) -> str:
    return sendable(json.dumps(values, ensure_ascii=False, indent=1))
