"""The commands that check what was written: `verify` drafts, `receipt verify | audit` answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

import grounded_rag
from grounded_rag import (
    AuditReport,
    ClaimStatus,
    ClaimVerdict,
    Outcome,
    ReceiptCheck,
    Rules,
    Verification,
    audit_receipts,
    load_receipt,
    verify_receipt,
)
from grounded_rag.cli.options import AsOfOption, JsonOption, SettingsOption, parse_as_of
from grounded_rag.cli.settings import load_settings
from grounded_rag.cli.terminal import NOT_GOOD, guarded, line, show
from grounded_rag.errors import InputError
from grounded_rag.options import call_timeout, make_entailment, make_judge
from grounded_rag.receipts.findings import (
    UNCHANGED,
    ClaimCheck,
    IntegrityProblem,
    NearestPassage,
    StaleSource,
    number_line,
    support_line,
)
from grounded_rag.render.cards import withheld_in_words
from grounded_rag.render.terminal import flag_line
from grounded_rag.types.display import one_line, safe


def verify(
    draft: Annotated[
        Path, typer.Argument(help='JSON file with the draft, "-" for standard input.')
    ],
    chunks: Annotated[
        Path | None,
        typer.Option("--chunks", help='JSON list of {"id", "text", "metadata"}.'),
    ] = None,
    question: Annotated[str | None, typer.Option(help="The question; never evidence.")] = None,
    as_of: AsOfOption = None,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> int:
    """Verify a draft of any stack, claim by claim.

    Exit code 0: every claim is supported, and nothing else is wrong with the
    draft. 3: anything else. A claim is supported if it is word for word from its
    source, or confirmed by a model that the settings name (rag.entailment,
    rag.judge). One that nothing has shown is open, and not supported.

    Without --chunks, the file holds an object with "draft", "chunks" and, where
    known, "question".
    """
    chosen = load_settings(settings)
    text = _read(draft)
    body: Any = text
    passages: Any
    if chunks is None:
        whole = _json(text, draft)
        if not isinstance(whole, dict) or not {"draft", "chunks"} <= set(whole):
            raise InputError(
                f'{draft} has no "draft" and "chunks".',
                hint="Put both into the file, or give the chunks by --chunks FILE.",
            )
        body, passages = whole["draft"], whole["chunks"]
        if question is None and isinstance(whole.get("question"), str):
            question = whole["question"]
    else:
        passages = _json(_read(chunks), chunks)
    rules = Rules.of(
        chosen.policy,
        refusal=chosen.rag.refusal,
        entailment=make_entailment(chosen.rag.entailment),
        judge=make_judge(
            chosen.rag.judge,
            prompts=chosen.rag.prompts,
            timeout=call_timeout(chosen.rag.timeout, chosen.policy),
        ),
    )
    moment = parse_as_of(as_of)
    result = anyio.run(
        partial(grounded_rag.averify, body, passages, question=question, as_of=moment, rules=rules)
    )
    restates = chosen.policy.unproven == "restate"
    show(result, partial(verification_view, restates=restates), as_json=as_json)
    return 0 if result.outcome is Outcome.ACCEPTED else NOT_GOOD


def _read(path: Path) -> str:
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint="Give a UTF-8 file.") from error


def _json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}.", hint="See `verify --help`.") from error


_MARKS = {
    ClaimStatus.SUPPORTED: ("✓", "green"),
    ClaimStatus.OPEN: ("?", "yellow"),
    ClaimStatus.UNCHECKED: ("?", "yellow"),
    ClaimStatus.CONTRADICTED: ("✗", "red"),
}


def verification_view(verification: Verification, *, restates: bool = True) -> RenderableType:
    """Return the verdict on each claim, with what decided and what ships in its place.

    `restates`: the policy lets the source's own words ship in the place of a claim.
    """
    lines: list[RenderableType] = [line(f"outcome: {verification.outcome}", "bold")]
    for verdict in verification.claims:
        mark, style = _MARKS.get(verdict.status, ("✗", "yellow"))
        name = f"{verdict.status}, {verdict.tier}" if verdict.supported else str(verdict.status)
        reason = f" ({verdict.reason})" if verdict.reason else ""
        lines.append(line(f"{mark} {verdict.text}", style))
        lines.append(line(f"{name}{reason}: {verdict.why}", "dim", indent=4))
        for located in verdict.located:
            span = located.document_span
            place = f"{located.doc_id}[{span.start}:{span.end}]"
            lines.append(line(f"“{one_line(located.quote)}” — {place}", "dim", indent=4))
        if restates and (verdict.restatements or not verdict.supported):
            lines.append(_instead(verdict))
    lines.extend(flag_line(flag) for flag in verification.flags)
    lines.extend(
        line(f"{problem.reason} @ {problem.path}: {problem.detail}", "yellow")
        for problem in verification.problems
    )
    return Group(*lines)


def _instead(verdict: ClaimVerdict) -> RenderableType:
    if verdict.restatement is not None:
        return line(f"would ship instead: {verdict.restatement}", "cyan", indent=4)
    return line(f"nothing would ship instead: {withheld_in_words(verdict)}", "dim", indent=4)


receipts_app = typer.Typer(
    name="receipt",
    help="Check answers again that were given before: receipts against today's documents.",
    no_args_is_help=True,
)

_Index = Annotated[
    Path | None,
    typer.Option("--index", "-i", help="Folder of the index to compare with."),
]
_Folder = Annotated[
    Path | None,
    typer.Option("--folder", "-f", help="Folder of documents to compare with; no index needed."),
]
_Key = Annotated[
    str | None,
    typer.Option(help="Ed25519 public key, hexadecimal, that must have signed what is checked."),
]


def receipt_verify(
    file: Annotated[Path, typer.Argument(help="The receipt, as `ask --receipts DIR` saves it.")],
    index: _Index = None,
    folder: _Folder = None,
    as_of: AsOfOption = None,
    public_key: _Key = None,
    as_json: JsonOption = False,
) -> int:
    """Run the verifier again on one receipt, offline.

    Without --index or --folder only the receipt itself is checked: its hash, its quotes, and
    whether its claims have the support that it states. Verbatim and computed claims are shown
    again; what a model or a judge confirmed is taken at its word, and the output says so.

    Exit code 0: every claim stands. 3: altered, wrong or stale. 1: error.
    """
    check = verify_receipt(
        load_receipt(file),
        index=index,
        folder=folder,
        as_of=parse_as_of(as_of),
        public_key=_key_bytes(public_key),
    )
    show(check, check_view, as_json=as_json)
    return 0 if check.stands else NOT_GOOD


def receipt_audit(
    receipts: Annotated[Path, typer.Argument(help="Folder with receipts.")],
    index: _Index = None,
    folder: _Folder = None,
    as_of: AsOfOption = None,
    public_key: _Key = None,
    as_json: JsonOption = False,
) -> int:
    """Say which answers that were given are wrong or stale today, and why.

    Exit code 0: every file is a receipt that stands. 3: some are altered, wrong, stale or
    unreadable. 1: error.
    """
    report = audit_receipts(
        receipts,
        index=index,
        folder=folder,
        as_of=parse_as_of(as_of),
        public_key=_key_bytes(public_key),
    )
    show(report, audit_view, as_json=as_json)
    return 0 if report.clean else NOT_GOOD


receipts_app.command("verify")(guarded(receipt_verify))
receipts_app.command("audit")(guarded(receipt_audit))


def _key_bytes(text: str | None) -> bytes | None:
    if text is None:
        return None
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise typer.BadParameter(
            "64 hexadecimal digits are expected", param_hint="--public-key"
        ) from error


def check_view(check: ReceiptCheck) -> RenderableType:
    """Return one checked receipt, claim by claim."""
    verdict, style = _headline(check)
    against = "itself only" if check.against == "nothing" else f"the {check.against}"
    lines = [
        line(f"{verdict}: {check.question}", style),
        line(
            f"answered {check.created_at:%Y-%m-%d %H:%M} UTC, checked as of {check.as_of} "
            f"against {against}; receipt {check.receipt_id[:12]}",
            "dim",
            indent=2,
        ),
    ]
    for name, problems in (("altered", check.altered), ("not confirmed", check.unconfirmed)):
        lines += [line(_problem(problem, name), "red", indent=2) for problem in problems]
    for claim in check.claims:
        lines += _claim_lines(claim)
    if not check.claims:
        lines.append(line("A refusal: it claims nothing.", "dim", indent=2))
    return Group(*lines)


def _headline(check: ReceiptCheck) -> tuple[str, str]:
    if check.stands:
        return "stands", "bold green"
    if check.altered:
        return "altered", "bold red"
    return ("wrong", "bold red") if check.wrong else ("stale", "bold magenta")


def _problem(problem: IntegrityProblem, name: str) -> str:
    place = f" @ {problem.path}" if problem.path else ""
    return f"{name}{place}: {problem.detail}"


def _claim_lines(claim: ClaimCheck) -> Iterator[RenderableType]:
    mark, style = ("✗", "red")
    if claim.status in UNCHANGED:
        mark, style = ("!", "magenta") if claim.stale else ("✓", "green")
    yield line(f"{mark} {claim.claim}", style, indent=2)
    yield line(f"{claim.status.replace('_', ' ')}: {claim.why}", "dim", indent=6)
    if support := support_line(claim):
        yield line(support, "dim", indent=6)
    for standing in claim.citations:
        if standing.nearest is not None:
            yield Padding(_changed_passage(standing.nearest), (0, 0, 0, 6))
    for stale in claim.stale:
        yield line(f"! {_stale(stale)}", "magenta", indent=6)
        if stale.successor_says is not None:
            # As it stands: a diff between two documents shows wording, not what changed.
            says = stale.successor_says
            yield line(f"now: {says.text} ({says.doc_id})", "dim", indent=8)


def _stale(stale: StaleSource) -> str:
    since = "flagged already when it was answered" if stale.known_then else "not flagged then"
    return one_line(f"{stale.kind.replace('_', ' ')}: {stale.detail} ({since})")


_DIFF = {"same": ("", "", "dim"), "removed": ("[-", "-]", "red"), "added": ("{+", "+}", "green")}


def _changed_passage(nearest: NearestPassage) -> RenderableType:
    changed = Text("reads now: ", style="dim")
    for part in nearest.diff:
        # The marks stay readable where there are no colours: in a pipe, in a log.
        opened, closed, style = _DIFF[part.kind]
        text = safe(part.text).replace("\n", " ")
        changed.append(f"{opened}{text}{closed}", style=style)
    if not nearest.numbers:
        return changed
    numbers = "; ".join(number_line(change) for change in nearest.numbers)
    return Group(changed, line(f"numbers: {numbers}", "bold"))


def audit_view(report: AuditReport) -> RenderableType:
    """Return which answers are wrong or stale, why, and what was looked at."""
    good = report.receipts - len(report.findings)
    counts = f"{report.receipts} receipts as of {report.as_of}; still right: {good}, "
    counts += f"wrong or altered: {len(report.wrong)}, stale: {len(report.stale)}"
    lines: list[RenderableType] = [line(counts, "bold")]
    if report.refusals:
        lines.append(line(f"{report.refusals} of them are refusals.", "dim"))
    for finding in report.findings:
        lines += ["", check_view(finding.check), line(f"in {finding.file}", "dim", indent=2)]
    lines += [
        line(f"unreadable: {each.file}: {each.message}", "yellow") for each in report.unreadable
    ]
    return Group(*lines)
