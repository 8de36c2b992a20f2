"""Every class of the fuzzer, in the order of the report."""

from __future__ import annotations

from grounded_rag.testing.tamper import characters, framing, numbers, places, presentation, words
from grounded_rag.testing.tamper.values import Kind

TAMPERS: tuple[Kind, ...] = numbers.KINDS + words.KINDS + characters.KINDS + places.KINDS
"""Classes whose quotes say something that the cited chunk does not say at one place."""

BENIGN: tuple[Kind, ...] = framing.KINDS + presentation.KINDS
"""Classes whose quotes differ from the cited chunk in presentation only."""

KINDS: tuple[Kind, ...] = TAMPERS + BENIGN
