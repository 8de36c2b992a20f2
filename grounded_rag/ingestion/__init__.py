"""Brings an index up to date with folders and files."""

from grounded_rag.ingestion.report import (
    FailedFile,
    FileWarning,
    IngestProgress,
    IngestReport,
    ProgressHook,
)
from grounded_rag.ingestion.sync import update_index

__all__ = [
    "FailedFile",
    "FileWarning",
    "IngestProgress",
    "IngestReport",
    "ProgressHook",
    "update_index",
]
