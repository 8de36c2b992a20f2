"""How reports about an index look in a terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from grounded_rag.index.records import IndexStatus
from grounded_rag.ingestion import IngestReport
from grounded_rag.text.display import one_line

_SHOWN = 12


def ingest_view(report: IngestReport, *, index: Path) -> RenderableType:
    """Return what ingestion did, what it left out, and the next step."""
    counts = (
        ("added", report.added),
        ("changed", report.changed),
        ("new metadata", report.metadata_changed),
        ("removed", report.removed),
        ("unchanged", report.unchanged),
    )
    summary = ", ".join(f"{len(ids)} {name}" for name, ids in counts if ids) or "nothing to do"
    lines: list[RenderableType] = [
        Text(f"{summary}; {report.embedded} chunks embedded in {report.seconds:.1f} s")
    ]
    lines.extend(
        Text(f"  removed: {one_line(doc_id)}", style="dim") for doc_id in report.removed[:_SHOWN]
    )
    if report.words_only:
        lines.append(
            Text(f"note: search is by words alone: {one_line(report.words_only)}", style="yellow")
        )
    lines.extend(
        Text(f"skipped: {one_line(item.path)}: {one_line(item.reason)}", style="dim")
        for item in report.skipped[:_SHOWN]
    )
    if len(report.skipped) > _SHOWN:
        lines.append(
            Text(f"skipped: {len(report.skipped) - _SHOWN} more (see --json)", style="dim")
        )
    lines.extend(
        Text(f"warning: {one_line(item.message)}", style="yellow") for item in report.warnings
    )
    for failure in report.failed:
        lines.append(Text(f"failed: {one_line(failure.message)}", style="red"))
        if failure.hint:
            lines.append(Text(f"  next: {one_line(failure.hint)}", style="dim"))
    lines.append(Text(f'next: grounded-rag ask --index {index} "your question"', style="dim"))
    return Group(*lines)


def status_rows(status: IndexStatus) -> list[tuple[str, str]]:
    """Return an index's state as rows of name and value."""
    embedding = (
        "none: search is by words alone" if status.embedding is None else str(status.embedding)
    )
    return [
        ("documents", f"{status.documents} ({status.undated} undated)"),
        ("chunks", str(status.chunks)),
        ("stored versions", str(status.versions)),
        ("vectors", str(status.vectors)),
        ("embedding", embedding),
        ("size on disk", f"{status.bytes_on_disk / 1e6:.1f} MB"),
        ("schema, generation", f"{status.schema_version}, {status.generation}"),
    ]
