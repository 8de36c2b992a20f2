"""P(true) in the report of `eval`: a fitted model, checked before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from grounded_rag import InputError
from grounded_rag.cli.eval_progress import run_bar
from grounded_rag.evaluation.runner import Progress
from grounded_rag.evaluation.runs import Run

if TYPE_CHECKING:
    from grounded_rag.evaluation.factuality import FactualityModel, Scorers
    from grounded_rag.evaluation.factuality.reporting import RunFactuality


@dataclass(frozen=True)
class Scoring:
    """How the claims of a run are scored, if at all.

    Attributes:
        model: The fitted model, or None.
        scorers: The scorers that it was fitted with.
    """

    model: FactualityModel | None = None
    scorers: Scorers | None = None

    @classmethod
    def load(cls, path: Path | None, *, html: Path | None, entailment: Path | None) -> Self:
        """Read a model, if one is named.

        Args:
            path: File of the model.
            html: The report that shows the probabilities.
            entailment: Folder of the entailment model that it may have been fitted with.

        Raises:
            InputError: There is no report to show them in, or the file is no model.
            ConfigError: The model was fitted with other scorers.
        """
        if path is None:
            return cls()
        if html is None:
            raise InputError(
                "--factuality has no effect here: P(true) is shown in the HTML report.",
                hint="Add --html FILE.",
            )
        from grounded_rag.assembly import make_entailment
        from grounded_rag.evaluation.factuality import FactualityModel, builtin_scorers

        model = FactualityModel.load(path)
        scorers = builtin_scorers()
        if model.scorers != scorers.names and entailment is not None:
            scorers = builtin_scorers(entailment=make_entailment(entailment))
        model.score((), scorers=scorers)
        return cls(model, scorers)

    def check(self, fingerprint: str) -> None:
        """Refuse a policy other than the model's, before anything is asked under it.

        Raises:
            ConfigError: The fingerprint is another one.
        """
        if self.model is not None:
            self.model.check_fingerprint(fingerprint)

    def of(self, folder: Path, *, enabled: bool) -> RunFactuality | None:
        """Return P(true) of every claim of a run, or None without a model.

        Args:
            folder: Folder of the run.
            enabled: Whether to show a progress bar.

        Raises:
            ConfigError: The run was made under another policy than the model was fitted under.
        """
        if self.model is None:
            return None
        from grounded_rag.evaluation.factuality.reporting import factuality_of

        run = Run.open(folder)
        with run_bar("Scoring", enabled=enabled) as hook:
            return factuality_of(
                run,
                self.model,
                scorers=self.scorers,
                progress=lambda done: hook(Progress(done=done, total=run.meta.items)),
            )
