"""Reading a JSON object while it arrives: an entry of a list counts when all of it is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_SPACE = " \t\r\n"


class EntryScanner:
    """Finds the complete entries of one top-level list of a JSON object that comes in pieces."""

    def __init__(self, key: str) -> None:
        """Look for the entries of the list under `key`."""
        self._key = key
        self._text = ""
        self._position = 0
        self._depth = 0
        self._string_from: int | None = None
        self._escaped = False
        self._last_string = ""
        self._current_key: str | None = None
        self._in_list = False
        self._entry_from: int | None = None

    def feed(self, piece: str) -> Iterator[Any]:
        """Take the next piece and yield what has become complete, decoded.

        What cannot be decoded is left out: the whole output will say so.
        """
        self._text += piece
        while self._position < len(self._text):
            entry = self._step(self._text[self._position], self._position)
            self._position += 1
            if entry is not None:
                try:
                    yield json.loads(entry)
                except (ValueError, RecursionError):
                    continue

    def _step(self, character: str, at: int) -> str | None:
        """Take one character; return the text of an entry that it completes."""
        if self._string_from is not None:
            self._in_string(character, at)
            return None
        if character in _SPACE:
            return None
        if self._in_list and self._depth == 2 and character in ",]":
            return self._end_entry(character, at)
        if self._in_list and self._depth == 2 and self._entry_from is None:
            self._entry_from = at
        if character == '"':
            self._string_from = at
        elif character in "{[":
            self._open(character)
        elif character in "}]":
            self._depth -= 1
            if self._in_list and self._depth == 2:
                return self._entry(at + 1)
        elif self._depth == 1 and character == ":":
            self._current_key = self._last_string
        elif self._depth == 1 and character == ",":
            self._current_key = None
        return None

    def _in_string(self, character: str, at: int) -> None:
        if self._escaped:
            self._escaped = False
        elif character == "\\":
            self._escaped = True
        elif character == '"' and self._string_from is not None:
            if self._depth == 1:
                self._last_string = self._text[self._string_from + 1 : at]
            self._string_from = None

    def _open(self, character: str) -> None:
        self._depth += 1
        if self._depth == 2 and character == "[" and self._current_key == self._key:
            self._in_list = True

    def _end_entry(self, character: str, at: int) -> str | None:
        entry = self._entry(at)
        if character == "]":
            self._depth -= 1
            self._in_list = False
        return entry

    def _entry(self, end: int) -> str | None:
        start, self._entry_from = self._entry_from, None
        return None if start is None else self._text[start:end]
