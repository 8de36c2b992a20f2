import asyncio
import datetime as dt
import threading

import pytest
from index_documents import cut, document, put
from index_helpers import TextEmbedding, retrieve, texts
from llama_index.core.postprocessor import SimilarityPostprocessor

from grounded_rag.errors import ConfigError, IndexMismatchError
from grounded_rag.index.retrieval import HybridRetriever
from grounded_rag.index.search import Ranking, arrange, fuse
from grounded_rag.index.store import Index
from grounded_rag.protocols import Query, Retriever
from grounded_rag.types import Span, Validity

JAN_24, JAN_25, JAN_26 = (dt.date(year, 1, 1) for year in (2024, 2025, 2026))
TODAY = dt.date(2026, 11, 29)


def ids(chunks):
    return [hit.chunk.doc_id for hit in chunks]


@pytest.fixture
def rates(index, embedding):
    """Three sheets, each superseding the one before; the newest uses other words."""
    put(
        index,
        embedding,
        document(
            "sheet-24",
            "The savings rate is 3%.",
            validity=Validity(effective_from=JAN_24, superseded_by="sheet-25"),
        ),
        document(
            "sheet-25",
            "The savings rate is 4%.",
            validity=Validity(effective_from=JAN_25, superseded_by="sheet-26"),
        ),
        document(
            "sheet-26",
            "Opening hours are on the web.",
            "Deposits earn 5% a year.",
            validity=Validity(effective_from=JAN_26),
        ),
        *(document(f"other-{n}", f"Savings advice number {n}.") for n in range(9)),
    )
    return index


def test_results_are_filled_in(index, embedding):
    doc = document(
        "a",
        "First page.",
        "The rate is 3%.",
        title="Rates",
        validity=Validity(reviewed_on=JAN_26),
        pages=(Span(start=0, end=13), Span(start=13, end=28)),
        metadata={"year": 2026},
    )
    put(index, embedding, doc, trust="internal")
    hit, other = retrieve(index, embedding, "The rate is 3%.")
    assert hit.chunk == cut(doc)[1]
    assert (hit.rank, other.rank) == (1, 2)
    assert hit.score > other.score
    assert (hit.source, hit.title, hit.trust) == ("a.md", "Rates", "internal")
    assert hit.validity == doc.validity
    assert hit.document_hash == doc.content_hash
    assert hit.page_of(hit.chunk.span.start) == 2
    assert hit.sources == ("dense", "lexical")
    assert hit.metadata == {"year": 2026}
    assert isinstance(HybridRetriever(index, embedding=embedding), Retriever)


def test_fusion_counts_ranks_by_id():
    fused = fuse([Ranking("dense", ["a", "b", "c"]), Ranking("lexical", ["b", "d"])], k=60)
    assert [(item.chunk_id, item.sources) for item in fused] == [
        ("b", ("dense", "lexical")),
        ("a", ("dense",)),
        ("d", ("lexical",)),
        ("c", ("dense",)),
    ]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)


def test_arrangement_keeps_successors_with_what_they_replace():
    order = arrange(["old", "x", "y"], successors={"old": "new"}, outdated={"old"}, k=3)
    assert order == ["new", "x", "old"]
    assert arrange(["a", "old"], successors={"old": "a"}, outdated={"old"}, k=5) == ["a", "old"]


def test_a_document_cannot_give_itself_what_the_corpus_says_about_it(index, embedding):
    claimed = {"trust": "official", "doc_id": "law", "title": "Law", "source": "law.md"}
    put(index, embedding, document("rumour", "Tea is free.", metadata=claimed), trust="untrusted")
    for key, value in claimed.items():
        assert retrieve(index, embedding, "tea", filters={key: value}) == []
    for filters in ({"trust": "untrusted"}, {"doc_id": "rumour"}):
        assert ids(retrieve(index, embedding, "tea", filters=filters)) == ["rumour"]


def test_a_superseded_hit_brings_the_successor_that_holds_today(rates, embedding):
    found = retrieve(
        rates, embedding, "The savings rate is 3%.", k=3, as_of=TODAY, signals="lexical"
    )
    assert ids(found)[0] == "sheet-26"
    assert "successor" in found[0].sources
    assert "sheet-24" in ids(found)
    outdated = [hit for hit in found if hit.chunk.doc_id == "sheet-24"]
    # The ledger knows since when: verification need not know the successor.
    assert outdated[0].validity.superseded_on == JAN_25
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


def test_the_successors_best_chunk_is_chosen_by_the_question(rates, embedding):
    renamed = rates.document("sheet-26").model_copy(update={"title": "The savings rate"})
    put(rates, embedding, renamed)
    found = retrieve(rates, embedding, "savings rate deposits", k=1, as_of=TODAY, signals="lexical")
    assert texts(found) == ["Deposits earn 5% a year."]


def test_each_hit_of_a_superseded_document_brings_another_chunk_of_its_successor(index, embedding):
    old = Validity(effective_from=JAN_24, superseded_by="new")
    put(
        index,
        embedding,
        document("old", "Fees: cards cost 1.", "Fees: cash costs 2.", validity=old),
        document(
            "new",
            "Hours are on the web.",
            "Fees: cards cost 3, all cards.",
            "Fees, in short.",
            validity=Validity(effective_from=JAN_26),
        ),
    )
    retriever = HybridRetriever(index, embedding=embedding, signals="lexical")
    found = retriever._candidates(Query(text="fees cards cost", k=5, as_of=TODAY), 30)
    by_id = {hit.chunk.id: hit.chunk for hit in found.chunks}
    hits = [hit.chunk for hit in found.chunks if hit.chunk.doc_id == "old"]
    assert [chunk.text for chunk in hits] == ["Fees: cards cost 1.", "Fees: cash costs 2."]
    # The best hit is answered by the successor's best chunk, the second by its second.
    assert [by_id[found.successors[chunk.id]].text for chunk in hits] == [
        "Fees: cards cost 3, all cards.",
        "Fees, in short.",
    ]


@pytest.mark.parametrize(
    ("as_of", "first"),
    [(dt.date(2024, 6, 1), "sheet-24"), (dt.date(2025, 6, 1), "sheet-25"), (None, "sheet-24")],
)
def test_the_sheet_of_the_day_is_preferred(rates, embedding, as_of, first):
    found = retrieve(rates, embedding, "The savings rate is 3%.", k=4, as_of=as_of)
    assert ids(found)[0] == first
    assert all("successor" not in hit.sources for hit in found if as_of is None)


def test_what_does_not_hold_is_ranked_last_or_left_out(rates, embedding):
    put(
        rates,
        embedding,
        document("ended", "Toasters for all.", validity=Validity(valid_until=JAN_25)),
        document("future", "Toasters soon.", validity=Validity(effective_from=dt.date(2030, 1, 1))),
    )
    question = "toasters"
    found = retrieve(rates, embedding, question, k=4, as_of=TODAY)
    assert set(ids(found)[-2:]) == {"ended", "future"}
    assert len(found) == 4
    excluded = retrieve(rates, embedding, question, k=4, as_of=TODAY, stale="exclude")
    assert not {"ended", "future", "sheet-24", "sheet-25"} & set(ids(excluded))
    assert len(excluded) == 4
    only = retrieve(rates, embedding, question, k=2, signals="lexical", as_of=TODAY)
    assert set(ids(only)) == {"ended", "future"}


def test_successors_that_lead_in_a_circle_or_nowhere_do_no_harm(index, embedding):
    put(
        index,
        embedding,
        document("a", "Rate one.", validity=Validity(superseded_by="b")),
        document("b", "Rate two.", validity=Validity(superseded_by="a")),
        document("c", "Rate three.", validity=Validity(superseded_by="gone")),
        document("d", "Rate four.", validity=Validity(superseded_by="d")),
    )
    found = retrieve(index, embedding, "rate", as_of=TODAY)
    assert sorted(ids(found)) == ["a", "b", "c", "d"]


def test_an_earlier_version_of_one_document_answers_for_its_time(index, embedding):
    old = document("list", "Same.", "The fee is 10.", validity=Validity(effective_from=JAN_24))
    new = document("list", "Same.", "The fee is 12.", validity=Validity(effective_from=JAN_26))
    put(index, embedding, old)
    put(index, embedding, new)

    def fee(as_of):
        return retrieve(index, embedding, "The fee is 10.", as_of=as_of, signals="lexical")

    past = fee(dt.date(2025, 6, 1))
    assert texts(past) == ["The fee is 10."]
    assert past[0].document_hash == old.content_hash
    assert past[0].validity.superseded_on == JAN_26
    assert texts(fee(TODAY)) == texts(fee(None)) == ["The fee is 12."]
    # Nothing takes effect before its time, not even the only version.
    assert texts(fee(dt.date(2020, 1, 1))) == ["The fee is 12."]
    assert index.status().vectors == 3
    assert index.audit().clean
    # A correction within the same window leaves no trace of the mistake.
    put(
        index,
        embedding,
        document("list", "Same.", "The fee is 13.", validity=Validity(effective_from=JAN_26)),
    )
    assert texts(fee(TODAY)) == ["The fee is 13."]
    assert texts(fee(dt.date(2025, 6, 1))) == ["The fee is 10."]
    assert index.status().vectors == 3


def test_a_version_for_the_future_does_not_hide_the_one_that_holds(index, embedding):
    put(index, embedding, document("list", "The fee is 10."))
    later = Validity(effective_from=dt.date(2027, 1, 1))
    put(index, embedding, document("list", "The fee is 12.", validity=later))
    assert texts(retrieve(index, embedding, "fee", as_of=TODAY)) == ["The fee is 10."]
    assert texts(retrieve(index, embedding, "fee", as_of=dt.date(2027, 1, 1))) == ["The fee is 12."]


@pytest.fixture
def library(index, embedding):
    put(
        index,
        embedding,
        *(
            document(
                f"doc-{n}",
                f"Common words of document {n}.",
                metadata={"year": 2020 + n % 3, "tags": ["even" if n % 2 == 0 else "odd"]},
                media_type="text/html" if n == 7 else "text/plain",
            )
            for n in range(12)
        ),
    )
    put(index, embedding, document("secret", "Common words, untrusted."), trust="untrusted")
    return index


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"doc_id": "doc-3"}, {3}),
        ({"doc_id": ["doc-3", "doc-5", "none"]}, {3, 5}),
        ({"source": "doc-4.md"}, {4}),
        ({"media_type": "text/html"}, {7}),
        ({"trust": "official"}, set(range(12))),
        ({"year": 2021}, {1, 4, 7, 10}),
        ({"year": "2021", "tags": "odd"}, {1, 7}),
        ({"tags": ["even", "odd"], "year": [2020, 2022]}, {0, 2, 3, 5, 6, 8, 9, 11}),
        ({"nothing": 1}, set()),
        ({"year": None}, set()),
    ],
)
@pytest.mark.parametrize("limit", [0, 2_000])
def test_filters(library, embedding, monkeypatch, filters, expected, limit):
    # Few usable chunks are compared exactly, many are searched by over-fetching: both find all.
    monkeypatch.setattr("grounded_rag.index.search._EXACT", limit)
    found = retrieve(library, embedding, "common words", k=20, filters=filters)
    assert set(ids(found)) == {f"doc-{n}" for n in expected}


def test_filtered_hits_are_refilled_from_deeper_down(index, embedding, monkeypatch):
    monkeypatch.setattr("grounded_rag.index.search._EXACT", 0)
    put(index, embedding, *(document(f"d{n}", f"Many words {n}.") for n in range(300)))
    put(index, embedding, document("last", "Many words, wanted."), trust="internal")
    for signals in ("dense", "lexical"):
        found = retrieve(
            index, embedding, "many words 5", k=3, filters={"trust": "internal"}, signals=signals
        )
        assert ids(found) == ["last"]


def test_the_graph_may_fail_and_the_ledger_still_answers(index, embedding, monkeypatch):
    put(index, embedding, *(document(f"d{n}", f"Text {n}.") for n in range(30)))
    collection = index._vectors._opened().collection
    real, asked = type(collection).query, []

    def query(self, *, n_results, **arguments):
        asked.append(n_results)
        if n_results > most:
            raise RuntimeError("Cannot return the results in a contiguous 2D array")
        return real(self, n_results=n_results, **arguments)

    monkeypatch.setattr(type(collection), "query", query)
    for limit in (20, 0):
        most = limit
        asked.clear()
        found = retrieve(index, embedding, "Text 7.", k=3, signals="dense")
        assert texts(found)[0] == "Text 7."
        assert len(found) == 3
        assert len(asked) > 1


def test_a_successor_outside_the_filter_stays_outside(rates, embedding):
    found = retrieve(rates, embedding, "savings rate", as_of=TODAY, filters={"doc_id": "sheet-24"})
    assert ids(found) == ["sheet-24"]


HOSTILE = [
    "",
    " \n\t",
    '"',
    '""" OR 1=1 --',
    "What's the rate?",
    "high-yield",
    "fee: 5",
    "rate AND OR NOT NEAR(",
    "NEAR(rate fee, 2)",
    "body:rate",
    "{body} : rate",
    "rate*",
    "^rate",
    "rate + fee",
    "(((",
    "*",
    "the of and",
    "'; DROP TABLE documents; --",
    "\x00rate\x00",
    "rate \ud800",
    "🙂",
    "rate " * 2_000,
    " ".join(f"word{n}" for n in range(5_000)),
    '"' * 10_000,
]


@pytest.mark.parametrize("question", HOSTILE, ids=range(len(HOSTILE)))
def test_questions_are_no_query_language(folder, question):
    with Index.open(folder, write=True, create=True) as index:
        put(index, None, document("a", "The rate is high.", "Yield: 5. A fee, the cost of it."))
        found = retrieve(index, None, question)
        assert len(found) <= 2
        if "rate" in question:
            assert "The rate is high." in texts(found)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("interest rates", "The interest rate of an account."),
        ("Uberweisung", "Eine Überweisung dauert."),
        ("普通預金の金利", "普通預金の金利は年0.5%です。"),
        ("金利", "普通預金の金利は年0.5%です。"),
        ("сколько стоит карта", "Карта стоит 10."),
        ("البطاقة", "رسوم البطاقة عشرة."),
        ("office", "The o\ufb03ce opens."),
        ("international", "An inter\u00adnational transfer."),
        ("investment", "About invest-\nment plans."),
        ("4.2", "A rate of 4.2 percent."),
        ("MAX_SIZE_MB", "Set MAX_SIZE_MB to ten."),
        ("café", "A cafe\u0301 nearby."),
        ("section", "Only the heading says so."),
        ("handbook", "Only the title says so."),
    ],
)
def test_words_are_found_in_any_script_and_presentation(folder, question, text):
    with Index.open(folder, write=True, create=True) as index:
        filler = [f"Filler number {n} about nothing." for n in range(9)]
        put(index, None, document("a", text, title="Handbook"), document("b", *filler))
        found = retrieve(index, None, question, k=1)
        assert ids(found) == ["a"] if question != "section" else found


def test_stop_words_count_only_where_nothing_else_is_asked(folder):
    with Index.open(folder, write=True, create=True) as index:
        put(index, None, document("a", "This is the one and the other.", "Mortgage."))
        assert texts(retrieve(index, None, "what is the mortgage")) == ["Mortgage."]
        assert texts(retrieve(index, None, "the")) == ["This is the one and the other."]


def test_the_model_runs_outside_the_event_loop(index):
    threads = []

    class Watching(TextEmbedding):
        def _get_query_embedding(self, query):
            threads.append(threading.current_thread())
            return super()._get_query_embedding(query)

    embedding = Watching()
    put(index, embedding, document("a", "Text."))
    retrieve(index, embedding, "Text.")
    assert threads[0] is not threading.main_thread()


def test_rerankers_have_the_last_word_on_relevance_but_not_on_currency(rates, embedding):
    class Backwards:
        async def rerank(self, query, chunks):
            return list(reversed(chunks))

    plain = retrieve(rates, embedding, "savings", k=20)
    turned = retrieve(rates, embedding, "savings", k=20, rerankers=[Backwards()])
    assert texts(turned) == texts(plain)[::-1]
    dated = retrieve(rates, embedding, "savings", k=20, as_of=TODAY, rerankers=[Backwards()])
    assert set(ids(dated)[-2:]) == {"sheet-24", "sheet-25"}


def test_retrievers_of_another_model_are_refused(index, embedding):
    put(index, embedding, document("a", "Text."))
    with pytest.raises(IndexMismatchError):
        HybridRetriever(index, embedding=TextEmbedding(model_name="other"))
    with pytest.raises(ConfigError):
        HybridRetriever(index, signals="dense")
    with pytest.raises(ConfigError, match="no Reranker") as caught:
        HybridRetriever(index, rerankers=[SimilarityPostprocessor()])
    assert "PostprocessorReranker(postprocessor)" in caught.value.hint
    assert HybridRetriever(index).lexical_only
    assert not HybridRetriever(index, embedding=embedding).lexical_only


def test_an_empty_index_finds_nothing(index, embedding):
    assert retrieve(index, embedding, "anything", as_of=TODAY) == []
    assert retrieve(index, embedding, "anything", filters={"doc_id": "a"}) == []


def test_many_questions_at_once(rates, embedding):
    retriever = HybridRetriever(rates, embedding=embedding)

    async def ask():
        queries = [Query(text="The savings rate is 4%.", k=2) for _ in range(20)]
        return await asyncio.gather(*(retriever.retrieve(query) for query in queries))

    assert {tuple(ids(found)) for found in asyncio.run(ask())} == {
        tuple(ids(retrieve(rates, embedding, "The savings rate is 4%.", k=2)))
    }


def test_words_of_most_chunks_are_left_out_of_large_indexes_only(folder, monkeypatch):
    with Index.open(folder, write=True, create=True) as index:
        put(
            index,
            None,
            document("a", *(f"Bank fee number {n}." for n in range(8)), "Bank holiday."),
            document("b", "A fee for nothing."),
        )
        assert len(retrieve(index, None, "bank holiday", k=20)) == 9
    monkeypatch.setattr("grounded_rag.index.lexical._LARGE", 5)
    with Index.open(folder) as index:
        assert texts(retrieve(index, None, "bank holiday", k=20)) == ["Bank holiday."]
        assert len(retrieve(index, None, "bank fee", k=20)) == 10
