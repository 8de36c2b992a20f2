"""OpenTelemetry: answers as metrics and spans. Counts and times are exported, and no texts."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from grounded_rag.answer import Answer
from grounded_rag.evaluation.production.sampler import LiveScores

_LOG = logging.getLogger(__name__)
_SCOPE = "grounded_rag"
_STAGES = ("retrieve", "generate", "verify")


class Telemetry:
    """A hook that turns each answer into a span with its stages, and into metrics.

    Without the OpenTelemetry API it does nothing; without an SDK set up by the application, the
    API itself does nothing. No question, claim or quote is exported, and no document's name.
    """

    def __init__(
        self,
        *,
        tracer_provider: Any | None = None,
        meter_provider: Any | None = None,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        """Take the given OpenTelemetry providers, or the application's global ones.

        `now` is the clock in nanoseconds since the epoch, for tests.
        """
        self._now = now
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            self.active = False
            return
        self.active = True
        self._trace = trace
        self._tracer = trace.get_tracer(_SCOPE, tracer_provider=tracer_provider)
        meter = metrics.get_meter(_SCOPE, meter_provider=meter_provider)
        self._answers = meter.create_counter(
            "grounded_rag.answers", unit="{answer}", description="Questions by outcome."
        )
        self._claims = meter.create_counter(
            "grounded_rag.claims",
            unit="{claim}",
            description="Shipped claims by tier, restated or not.",
        )
        self._flags = meter.create_counter(
            "grounded_rag.flags", unit="{flag}", description="Flags of answers by kind."
        )
        self._tokens = meter.create_counter(
            "grounded_rag.tokens", unit="{token}", description="Tokens by kind."
        )
        self._attempts = meter.create_histogram(
            "grounded_rag.attempts", unit="{call}", description="Generator calls for one question."
        )
        self._seconds = meter.create_histogram(
            "grounded_rag.duration", unit="s", description="Seconds by stage."
        )
        self._scores = meter.create_histogram(
            "grounded_rag.score", unit="1", description="Scores of sampled answers by name."
        )

    def __call__(self, answer: Answer) -> None:
        """Export one answer; it never raises."""
        if not self.active:
            return
        try:
            self._record_metrics(answer)
            self._record_span(answer)
        except Exception:  # noqa: BLE001 - a failing export must not cost the user the answer
            _LOG.exception("An answer could not be exported.")

    def scored(self, _answer: Answer, found: LiveScores) -> None:
        """Export the scores of a sampled answer: give it to `LiveSampler(on_scored=…)`."""
        if self.active:
            for name, score in found.scores.items():
                if score is not None:
                    self._scores.record(score, {"score": name})

    def _record_metrics(self, answer: Answer) -> None:
        self._answers.add(1, _outcome(answer))
        self._attempts.record(answer.attempts, {"generator": answer.generator})
        for claim in answer.claims:
            self._claims.add(1, {"tier": str(claim.tier), "restated": claim.restated})
        for flag in answer.flags:
            self._flags.add(1, {"kind": str(flag.kind)})
        for kind in ("input", "output", "cache_read", "cache_write"):
            count = getattr(answer.usage, f"{kind}_tokens")
            if count:
                self._tokens.add(count, {"kind": kind, "generator": answer.generator})
        for stage in (*_STAGES, "total"):
            self._seconds.record(getattr(answer.timings, stage), {"stage": stage})

    def _record_span(self, answer: Answer) -> None:
        end = self._now()
        start = end - _nanoseconds(answer.timings.total)
        span = self._tracer.start_span(
            "grounded_rag.query",
            start_time=start,
            attributes={
                **_outcome(answer),
                "grounded_rag.attempts": answer.attempts,
                "grounded_rag.claims": len(answer.claims),
                "grounded_rag.fingerprint": answer.fingerprint,
                "gen_ai.usage.input_tokens": answer.usage.input_tokens,
                "gen_ai.usage.output_tokens": answer.usage.output_tokens,
            },
        )
        inside = self._trace.set_span_in_context(span)
        # Stages alternate when the generator is asked again; each is shown once, with its sum.
        at = start
        for stage in _STAGES:
            length = _nanoseconds(getattr(answer.timings, stage))
            child = self._tracer.start_span(f"grounded_rag.{stage}", context=inside, start_time=at)
            at += length
            child.end(end_time=at)
        span.end(end_time=max(end, at))


def _outcome(answer: Answer) -> dict[str, str]:
    outcome = {"status": str(answer.status), "generator": answer.generator}
    if answer.refusal is not None:
        outcome["refusal"] = str(answer.refusal.reason)
    return outcome


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1_000_000_000)
