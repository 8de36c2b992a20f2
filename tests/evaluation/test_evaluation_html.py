"""The HTML report: whole, escaped, with nothing from elsewhere."""

import base64
import datetime as dt
import hashlib
import re
from html.parser import HTMLParser

import pytest
from evaluation_records import FEE, RIGHT, WRONG, answered, item, refused, without_context

from grounded_rag.errors import InputError
from grounded_rag.evaluation.gate import GateRules, check_gate, compare
from grounded_rag.evaluation.html_report import write_html
from grounded_rag.evaluation.plots import Point, reliability, reliability_bins, two_directions
from grounded_rag.evaluation.records import RunMeta
from grounded_rag.evaluation.report import report_of
from grounded_rag.evaluation.runs import Run
from grounded_rag.statistics import Interval

HOSTILE = '"><script>alert(1)</script><img src="https://x.test/a.png" onerror=alert(2)>&amp;'
VOID = {"meta", "input", "br", "line", "circle", "option"}


class Page(HTMLParser):
    """Collects elements and attributes, and checks that elements close in order."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.open = []
        self.text = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def page(tmp_path):
    def build(*records, before=(), gate=None):
        def run(name, items):
            meta = RunMeta(
                id=f"{name}{HOSTILE}",
                started=dt.datetime(2026, 11, 29, tzinfo=dt.UTC),
                items=len(items),
                generator=HOSTILE,
            )
            with Run.create(tmp_path / name, meta) as made:
                for record in items:
                    made.append(record)
            return made, report_of(made)

        made, report = run("now", records)
        comparison = baseline = result = None
        if before:
            baseline = run("before", before)[1]
            comparison = compare(report, baseline)
        if gate is not None:
            result = check_gate(report, gate, comparison=comparison)
        write_html(
            tmp_path / "r.html", made, report, gate=result, comparison=comparison, baseline=baseline
        )
        return (tmp_path / "r.html").read_text(encoding="utf-8")

    return build


def test_every_text_is_escaped_and_nothing_comes_from_elsewhere(page):
    of = item(id=HOSTILE, question=HOSTILE, kind=HOSTILE, expected=HOSTILE)
    text = page(
        answered((HOSTILE, "fees.md", HOSTILE), of=of),
        refused(of=item(id="b")),
        before=(answered(RIGHT, of=of),),
        gate=GateRules(),
    )
    found = Page(text)
    names = [name for name, _ in found.elements]
    assert names.count("script") == names.count("style") == 1
    assert not {"img", "link", "iframe", "object", "base"} & set(names)
    for _, attributes in found.elements:
        assert not {"src", "style"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    assert "".join(found.text).count(HOSTILE) >= 5
    assert "https://x.test" not in re.sub(r"&quot;https://x\.test", "", text)


def test_the_policy_allows_exactly_its_own_style_and_script(page):
    text = page(answered(RIGHT))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src 'none'" in policy
    for name in ("style", "script"):
        content = re.search(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_quotes_are_marked_in_their_sources(page):
    text = page(answered(("The account costs 2 euros.", "fees.md", "costs 2 euros a month")))
    assert "The account <mark>costs 2 euros a month</mark>." in text


def test_the_headline_the_gate_and_what_flipped_are_there(page):
    records = [answered(RIGHT, of=item(id=f"i{n}")) for n in range(9)]
    now = [refused(of=item(id=f"i{n}")) for n in range(9)]
    text = "".join(Page(page(*now, before=records, gate=GateRules())).text)
    assert "Gate failed" in text
    assert "9 worse, 0 better of 9" in text
    assert "false refusal" in text
    assert "9 of 9 questions, 66.4% to 100.0%" in text


def test_errors_and_rejected_claims_are_shown_as_such(page):
    text = "".join(Page(page(answered(WRONG), without_context(item(id="z")))).text)
    assert "NoContext" in text
    assert "rejected" in text
    assert "1 failed to score" in text


def test_a_file_that_cannot_be_written_is_an_error(page, tmp_path):
    page(answered(RIGHT))
    run = Run.open(tmp_path / "now")
    with pytest.raises(InputError):
        write_html(tmp_path / "none" / "r.html", run, report_of(run))


def test_reliability_bins_count_answers_by_score():
    bins = reliability_bins([(0.05, False), (0.95, True), (1.0, True), (0.91, False)])
    assert [(b.low, b.trials, b.right) for b in bins] == [(0.0, 1, 0), (0.9, 3, 2)]
    assert bins[1].mean == pytest.approx((0.95 + 1.0 + 0.91) / 3)
    assert reliability(bins).count("<circle") == 2


def test_an_empty_plot_is_still_a_plot():
    assert two_directions([]).startswith("<svg")
    assert FEE not in two_directions([])


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.97, 1.0])
def test_names_of_two_runs_that_lie_together_stand_on_two_lines(rate):
    def place(label):
        whole = Interval(low=0.0, high=1.0)
        return Point(label=label, x=rate, y=rate, x_interval=whole, y_interval=whole)

    shown = two_directions([place("this run"), place("baseline")])
    heights = [
        float(re.search(rf'y="([\d.]+)"[^>]*>{name}<', shown)[1])
        for name in ("this run", "baseline")
    ]
    assert abs(heights[0] - heights[1]) >= 14
