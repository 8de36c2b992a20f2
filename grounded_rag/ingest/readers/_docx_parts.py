"""The parts of a DOCX package, read as hostile data."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from grounded_rag.errors import EncryptedError, ReadError, UnsupportedFormatError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_MOST_MEMBERS = 20_000
_HINT = "Open it and save it again as DOCX."


class Package:
    """An opened DOCX file that hands out its XML parts.

    Args:
        data: Bytes of the file.
        source: Its name, for messages.
        max_unpacked: Most bytes that all parts together may unpack to.

    Raises:
        EncryptedError: It needs a password.
        UnsupportedFormatError: It is an old binary document.
        ReadError: It is no DOCX.
    """

    def __init__(self, data: bytes, *, source: str, max_unpacked: int) -> None:
        self._source = source
        self._left = max_unpacked
        self._max_unpacked = max_unpacked
        if data.startswith(_OLE):
            if _ENCRYPTED_STREAM in data:
                raise EncryptedError(
                    f"{source}: the document needs a password.",
                    hint="Save a copy without the password and ingest that.",
                )
            raise UnsupportedFormatError(
                f"{source}: this is an old binary document.", hint="Save it as DOCX."
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise ReadError(f"{source}: this is no DOCX file.", hint=_HINT) from error
        if len(self._zip.infolist()) > _MOST_MEMBERS:
            raise ReadError(f"{source}: the file has too many parts.", hint=_HINT)
        if "word/document.xml" not in self._zip.namelist():
            raise ReadError(f"{source}: the file holds no Word document.", hint=_HINT)

    def part(self, name: str) -> Element | None:
        """Return the root of an XML part, or None where the package has no such part.

        Raises:
            ReadError: It is damaged, declares entities, or unpacks to too much.
        """
        if name not in self._zip.namelist():
            return None
        import defusedxml
        from defusedxml.ElementTree import fromstring

        raw = self._read(name)
        try:
            root: Element = fromstring(raw, forbid_dtd=True)
        except defusedxml.DefusedXmlException as error:
            raise ReadError(
                f"{self._source}: {name} declares a document type or entities; refused.",
                hint=_HINT,
            ) from error
        except (ParseError, ValueError, LookupError) as error:
            raise ReadError(f"{self._source}: {name} is damaged.", hint=_HINT) from error
        return root

    def _read(self, name: str) -> bytes:
        info = self._zip.getinfo(name)
        if info.flag_bits & 1:
            raise EncryptedError(
                f"{self._source}: the document needs a password.",
                hint="Save a copy without the password and ingest that.",
            )
        try:
            with self._zip.open(info) as stream:
                # The size that the archive declares may be a lie: read one byte too many instead.
                raw = stream.read(self._left + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise ReadError(f"{self._source}: {name} is damaged.", hint=_HINT) from error
        self._left -= len(raw)
        if self._left < 0:
            raise ReadError(
                f"{self._source}: the document unpacks to more than {self._max_unpacked:,} bytes.",
                hint="Split the document.",
            )
        return raw
