"""From bytes to documents and from documents to chunks."""

from grounded_rag.ingest.chunking import RECIPE, chunk, embedded_text
from grounded_rag.ingest.manifest import MANIFEST_NAME, load_manifest
from grounded_rag.ingest.metadata import ReadDocument, build_document, read_metadata
from grounded_rag.ingest.scan import FileToRead, Scan, SkippedFile, read_document, scan

__all__ = [
    "MANIFEST_NAME",
    "RECIPE",
    "FileToRead",
    "ReadDocument",
    "Scan",
    "SkippedFile",
    "build_document",
    "chunk",
    "embedded_text",
    "load_manifest",
    "read_document",
    "read_metadata",
    "scan",
]
