"""OpenTelemetry out: what is exported, and that no text is."""

from __future__ import annotations

import sys

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from grounded_rag import GroundedRAG
from grounded_rag.evaluation.production import LiveScores, Telemetry
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_draft
from grounded_rag.types import Draft, Timings

FEE = "The fee is 4 euros a month."


@pytest.fixture
def exported():
    reader, spans = InMemoryMetricReader(), InMemorySpanExporter()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    meters = MeterProvider(metric_readers=[reader])
    telemetry = Telemetry(
        tracer_provider=tracers, meter_provider=meters, now=lambda: 1_000_000_000_000
    )
    yield telemetry, reader, spans
    meters.shutdown()
    tracers.shutdown()


def ask(hook, *drafts):
    with GroundedRAG(
        StaticRetriever({"c": FEE}),
        generator=ScriptedGenerator(*drafts, name="model"),
        on_answer=hook,
    ) as rag:
        return [rag.query("What is the fee?") for _ in drafts]


def points(reader):
    data = reader.get_metrics_data()
    found = {}
    for resource in data.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in metric.data.data_points:
                    key = (metric.name, tuple(sorted(point.attributes.items())))
                    found[key] = getattr(point, "value", None) or getattr(point, "sum", 0)
    return found


def test_answers_become_metrics(exported):
    telemetry, reader, _ = exported
    ask(telemetry, make_draft((FEE, "c", FEE)), Draft())
    found = points(reader)
    generator = ("generator", "model")
    assert found["grounded_rag.answers", (generator, ("status", "answered"))] == 1
    refused = (generator, ("refusal", "generator_declined"), ("status", "refused"))
    assert found["grounded_rag.answers", refused] == 1
    assert found["grounded_rag.claims", (("restated", False), ("tier", "verbatim"))] == 1
    assert found["grounded_rag.flags", (("kind", "undated"),)] == 1
    assert found["grounded_rag.tokens", (generator, ("kind", "input"))] == 200
    assert found["grounded_rag.tokens", (generator, ("kind", "output"))] == 40
    assert found["grounded_rag.attempts", (generator,)] == 2
    assert found["grounded_rag.duration", (("stage", "total"),)] > 0


def test_an_answer_becomes_a_span_with_its_stages(exported):
    telemetry, _, exporter = exported
    (answer,) = ask(lambda _: None, make_draft((FEE, "c", FEE)))
    timings = Timings(retrieve=1.0, generate=2.0, verify=0.5, total=4.0)
    telemetry(answer.model_copy(update={"timings": timings}))
    spans = {span.name: span for span in exporter.get_finished_spans()}
    whole = spans["grounded_rag.query"]
    assert (whole.end_time - whole.start_time) == 4_000_000_000
    assert whole.end_time == 1_000_000_000_000
    assert whole.attributes["status"] == "answered"
    assert whole.attributes["gen_ai.usage.input_tokens"] == 100
    for stage, seconds in (("retrieve", 1.0), ("generate", 2.0), ("verify", 0.5)):
        span = spans[f"grounded_rag.{stage}"]
        assert span.parent.span_id == whole.context.span_id
        assert span.end_time - span.start_time == seconds * 1_000_000_000
        assert whole.start_time <= span.start_time <= span.end_time <= whole.end_time


def test_no_text_leaves(exported):
    telemetry, reader, exporter = exported
    ask(telemetry, make_draft((FEE, "c", FEE)))
    whole = reader.get_metrics_data().to_json() + "".join(
        span.to_json() for span in exporter.get_finished_spans()
    )
    assert "euros" not in whole
    assert "What is the fee" not in whole


def test_scores_of_samples_are_exported(exported):
    telemetry, reader, _ = exported
    (answer,) = ask(lambda _: None, Draft())
    telemetry.scored(answer, LiveScores(scores={"p_true": 0.75, "other": None}))
    found = points(reader)
    assert found["grounded_rag.score", (("score", "p_true"),)] == 0.75
    assert ("grounded_rag.score", (("score", "other"),)) not in found


def test_without_opentelemetry_nothing_happens(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    telemetry = Telemetry()
    assert not telemetry.active
    (answer,) = ask(telemetry, Draft())
    telemetry.scored(answer, LiveScores(scores={"x": 1.0}))


def test_without_an_sdk_nothing_happens():
    telemetry = Telemetry()
    assert telemetry.active
    ask(telemetry, Draft())


def test_a_failing_exporter_costs_no_answer(exported, caplog):
    telemetry, _, _ = exported

    def broken(*_: object, **__: object) -> None:
        raise OSError("down")

    telemetry._tracer.start_span = broken
    (answer,) = ask(telemetry, make_draft((FEE, "c", FEE)))
    assert answer.answered
    assert "could not be exported" in caplog.text
