"""From bytes to documents and from documents to chunks."""

from grounded_rag.ingest.chunking import DEFAULT_CAPACITY, RECIPE, chunk, embedded_text
from grounded_rag.ingest.decoding import MAX_BYTES
from grounded_rag.ingest.manifest import (
    MANIFEST_NAME,
    CorpusInfo,
    Manifest,
    ManifestEntry,
    load_manifest,
)
from grounded_rag.ingest.metadata import (
    DocumentMetadata,
    ReadDocument,
    build_document,
    read_metadata,
)
from grounded_rag.ingest.readers import SUPPORTED_SUFFIXES, reader_for
from grounded_rag.ingest.scan import FileToRead, Scan, SkippedFile, read_document, scan

__all__ = [
    "DEFAULT_CAPACITY",
    "MANIFEST_NAME",
    "MAX_BYTES",
    "RECIPE",
    "SUPPORTED_SUFFIXES",
    "CorpusInfo",
    "DocumentMetadata",
    "FileToRead",
    "Manifest",
    "ManifestEntry",
    "ReadDocument",
    "Scan",
    "SkippedFile",
    "build_document",
    "chunk",
    "embedded_text",
    "load_manifest",
    "read_document",
    "read_metadata",
    "reader_for",
    "scan",
]
