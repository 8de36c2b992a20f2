import ast
import json
from pathlib import Path

import pytest

from grounded_rag.errors import InputError
from grounded_rag.testing import pytest_plugin
from grounded_rag.testing.pytest_plugin import fuzz_folder
from grounded_rag.testing.tamper import (
    BENIGN,
    KINDS,
    FuzzCase,
    Passage,
    draw_cases,
    load_corpus,
    load_data,
    pools_of,
    read_cases,
    run_cases,
    run_fuzz,
)
from grounded_rag.types import (
    Citation,
    CitationCheck,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Located,
    Outcome,
    Reason,
    Span,
    Verification,
)

# As `pytest_plugins` in a conftest.py would register it.
tamper_fuzz = pytest_plugin.tamper_fuzz

PACKAGE = Path(__file__).parents[2] / "grounded_rag"


def by_rule(rule):
    """A verifier that locates where `rule(chunk text, quote)` returns a span."""

    def verify(draft, chunks, *, checks=None):
        texts = {chunk.chunk.id: chunk.chunk.text for chunk in chunks}
        return Verification(
            claims=tuple(_verdict(claim, texts, rule) for claim in draft.claims),
            outcome=Outcome.PARTIAL,
        )

    return verify


def _verdict(claim, texts, rule):
    citation = claim.citations[0]
    text = texts.get(citation.chunk_id)
    span = rule(text, citation.quote) if text is not None else None
    if span is None:
        check = CitationCheck(citation=citation, problem=Reason.QUOTE_NOT_FOUND)
        return ClaimVerdict(claim=claim, citations=(check,), status=ClaimStatus.UNSUPPORTED)
    located = Located(
        chunk_id=citation.chunk_id,
        doc_id=citation.chunk_id,
        chunk_span=span,
        document_span=span,
        quote=span.of(text),
    )
    check = CitationCheck(citation=citation, located=located)
    return ClaimVerdict(claim=claim, citations=(check,), status=ClaimStatus.SUPPORTED)


def literal(text, quote):
    place = text.find(quote)
    return Span(start=place, end=place + len(quote)) if place >= 0 else None


def everything(text, quote):
    return Span(start=0, end=len(text))


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("demo")


def _one(report, kind):
    return next(row for row in report.results if row.kind == kind)


def test_a_literal_verifier_accepts_only_quotes_that_are_cut_and_refuses_presentation(corpus):
    report = run_fuzz(corpus, per_class=10, verify=by_rule(literal))
    accepted = {row.kind for row in report.results if row.label == "tamper" and row.accepted}
    assert accepted == {"truncated_word", "truncated_number"}
    assert _one(report, "verbatim").accepted == 10
    assert _one(report, "soft_hyphen").accepted == 0
    assert report.failed


def test_a_verifier_that_accepts_all_is_caught_on_both_sides(corpus):
    report = run_fuzz(corpus, per_class=5, verify=by_rule(everything))
    tampers, benign = report.total("tamper"), report.total("benign")
    assert tampers.accepted == tampers.made - _one(report, "unknown_chunk").made
    assert benign.accepted == 0
    assert benign.wrong_span == benign.made
    assert report.failed
    assert tampers.shown is None


def test_a_verifier_that_refuses_all_fails_too(corpus):
    report = run_fuzz(corpus, per_class=2, verify=by_rule(lambda text, quote: None))
    assert report.total("tamper").accepted == 0
    assert report.failed


def test_a_crash_is_pinned_to_its_quote_and_fails(corpus):
    def picky(text, quote):
        if "\u00ad" in quote:
            raise RuntimeError("soft hyphen")
        return literal(text, quote)

    kinds = [kind for kind in KINDS if kind.name in ("soft_hyphen", "digit")]
    report = run_fuzz(corpus, per_class=20, verify=by_rule(picky), kinds=kinds)
    row = _one(report, "soft_hyphen")
    assert 0 < row.crashed < row.made
    assert all("\u00ad" in f.quote for f in row.findings if f.found == "crashed")
    assert report.failed


def test_a_run_without_quotes_shows_nothing(corpus):
    assert run_fuzz(corpus, verify=by_rule(literal), kinds=()).failed
    assert run_fuzz(corpus, verify=by_rule(literal), per_class=2, kinds=BENIGN[:1]).failed


def test_a_citation_with_a_problem_is_refused_even_when_it_has_a_place(corpus):
    def doubtful(draft, chunks, *, checks=None):
        found = by_rule(everything)(draft, chunks)
        claims = tuple(
            verdict.model_copy(
                update={
                    "citations": (
                        verdict.citations[0].model_copy(update={"problem": Reason.CUT_WORD}),
                    )
                }
            )
            for verdict in found.claims
        )
        return found.model_copy(update={"claims": claims})

    report = run_fuzz(corpus, per_class=2, verify=doubtful)
    assert report.total("tamper").accepted == 0


def test_support_is_counted_apart_from_location(corpus):
    asked = []

    def verify(draft, chunks, *, checks=None):
        asked.append(checks)
        return by_rule(literal)(draft, chunks)

    kinds = [kind for kind in KINDS if kind.name == "verbatim"]
    report = run_fuzz(corpus, per_class=3, verify=verify, kinds=kinds, support=True)
    assert asked == [(), None]
    assert report.results[0].shown == 3


def test_the_default_verifier_passes_on_the_demo_corpus(corpus):
    report = run_fuzz(corpus, per_class=4, seed=11)
    assert report.total("tamper").accepted == 0, report.findings
    assert not report.failed, report.findings


def test_a_label_that_is_mended_in_code_is_counted_apart(corpus):
    kinds = [kind for kind in KINDS if kind.name in ("wrong_chunk", "unknown_chunk", "digit")]
    report = run_fuzz(corpus, per_class=5, kinds=kinds)
    assert _one(report, "wrong_chunk").mended > 0
    assert _one(report, "unknown_chunk").mended == 0
    assert report.total("tamper").accepted == 0


def test_a_label_that_leads_elsewhere_is_no_mending(corpus):
    def astray(draft, chunks, *, checks=None):
        texts = {chunk.chunk.id: chunk.chunk.text for chunk in chunks}
        claims = []
        for claim in draft.claims:
            cited = claim.citations[0]
            other = next(name for name in texts if name != cited.chunk_id)
            moved = cited.model_copy(update={"chunk_id": other})
            there = claim.model_copy(update={"citations": (moved,)})
            claims.append(_verdict(there, texts, everything))
        return Verification(claims=tuple(claims), outcome=Outcome.PARTIAL)

    kinds = [kind for kind in KINDS if kind.name == "wrong_chunk"]
    row = run_fuzz(corpus, per_class=5, verify=astray, kinds=kinds).results[0]
    assert (row.accepted, row.mended) == (row.made, 0)


def test_the_report_is_json_with_its_intervals(corpus):
    report = run_fuzz(corpus, per_class=2, verify=by_rule(literal))
    data = json.loads(report.model_dump_json())
    assert data["failed"] is True
    assert data["results"][0]["interval"]["high"] < 1


def test_the_fixture_fails_a_test_with_the_first_findings(tmp_path):
    (tmp_path / "a.md").write_text(
        "# T\n\nThe ferry to the island takes 40 minutes in calm weather. "
        "Dogs travel free of charge on every crossing of the season.\n",
        encoding="utf-8",
    )
    with pytest.raises(pytest.fail.Exception, match="tampered quotes were accepted"):
        fuzz_folder(tmp_path, per_class=3, verify=by_rule(everything))


def test_the_fixture_returns_the_report_of_a_good_verifier(tamper_fuzz):
    assert not tamper_fuzz(per_class=1, seed=5).failed


def test_a_missing_or_empty_folder_is_told(tmp_path):
    with pytest.raises(InputError, match="no folder"):
        load_corpus(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="holds no text"):
        load_corpus(str(tmp_path))
    with pytest.raises(InputError, match="none of the data sets"):
        load_data(tmp_path)


def test_data_sets_are_read_by_their_layout(tmp_path):
    (tmp_path / "squad2").mkdir()
    (tmp_path / "squad2" / "passages.jsonl").write_text(
        json.dumps({"passage_id": "A#0", "title": "A", "text": "Bees see red as black."}) + "\n",
        encoding="utf-8",
    )
    (tmp_path / "tatqa").mkdir()
    table = [["", "2019"], ["Sales", "1,496.5"]]
    record = {"id": "t", "table": table, "paragraphs": [{"order": 1, "text": "In millions."}]}
    (tmp_path / "tatqa" / "dev.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    texts = [passage.text for passage in load_data(tmp_path).passages]
    assert "Bees see red as black." in texts
    assert "|  | 2019 |\n| Sales | 1,496.5 |\n\nIn millions." in texts


def test_carriage_returns_and_html_text_are_kept_as_the_reader_would_see_them(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    (tmp_path / "b.html").write_text("<script>x</script><p>A &amp; B</p>", encoding="utf-8")
    assert [p.text for p in load_corpus(str(tmp_path)).passages] == ["one\r\ntwo", "A & B"]


def test_the_fuzzer_shares_no_module_with_the_verifier():
    """The figures would test a word list against itself otherwise; an import contract says so."""
    for path in (PACKAGE / "testing" / "tamper").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert not name.startswith(("grounded_rag.text", "grounded_rag.verification"))


def test_one_claim_is_made_of_each_quote(corpus):
    seen = []

    def verify(draft, chunks, *, checks=None):
        seen.append((draft, chunks))
        return by_rule(literal)(draft, chunks)

    kinds = [kind for kind in KINDS if kind.name == "verbatim"]
    run_fuzz(corpus, per_class=3, verify=verify, kinds=kinds)
    draft, chunks = seen[0]
    assert all(isinstance(claim, Claim) for claim in draft.claims)
    assert draft.claims[0].citations == (
        Citation(chunk_id=chunks[0].chunk.id, quote=draft.claims[0].text),
    )


def test_given_cases_are_read_from_both_formats_and_counted(tmp_path, corpus):
    own = draw_cases(BENIGN[0], pools_of(corpus), count=1, seed=0)[0]
    hand_made = {
        "id": "S-1",
        "kind": "repeated",
        "chunks": [{"id": "c1", "text": "A: it is 30 days. B: it is 30 days."}],
        "model_output": {
            "claims": [
                {"text": "B is 30 days.", "chunk_id": "c1", "quote": "it is 30 days."},
                {"text": "It is 40 days.", "chunk_id": "c1", "quote": "it is 40 days."},
                {"text": "Support decides.", "chunk_id": "c1", "quote": "A: it is"},
            ]
        },
        "expected": {
            "claims": [
                {"verdict": "flagged", "literal": True, "start": 3, "end": 17},
                {"verdict": "rejected", "literal": False},
                {"verdict": "rejected", "literal": True},
            ]
        },
    }
    path = tmp_path / "cases.jsonl"
    path.write_text(f"{own.model_dump_json()}\n\n{json.dumps(hand_made)}\n", encoding="utf-8")
    cases = read_cases(path)
    assert [case.label for case in cases] == ["benign", "benign", "tamper"]
    assert cases[0] == own
    report = run_cases(cases, verify=by_rule(literal))
    assert report.total("benign").accepted == 2
    assert report.total("tamper").refused == 1
    assert not report.failed


def test_the_claim_of_a_given_case_reaches_the_verifier():
    texts = []

    def verify(draft, chunks, *, checks=None):
        texts.extend(claim.text for claim in draft.claims)
        return by_rule(literal)(draft, chunks)

    chunk = Passage(id="c", text="It is so.")
    case = FuzzCase(
        id="1", kind="k", label="tamper", chunks=(chunk,), cited="c", quote="It is not so.",
        original="It is so.",
    )  # fmt: skip
    run_cases([case, case.model_copy(update={"claim": "No."})], verify=verify)
    assert texts == ["It is not so.", "No."]


def test_a_line_that_is_no_case_is_named(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text('{"id": "x"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        read_cases(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_cases(tmp_path / "nowhere.jsonl")
