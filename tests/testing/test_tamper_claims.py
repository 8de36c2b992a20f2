"""The generator of false and honest claims about literal quotes."""

import itertools
from types import SimpleNamespace

import pytest

from grounded_rag.testing.tamper import (
    CLAIM_KINDS,
    FALSE_CLAIMS,
    TRUE_CLAIMS,
    Corpus,
    draw_cases,
    fate_of,
    load_corpus,
    pools_of,
    run_fuzz,
)
from grounded_rag.testing.tamper.cases import read
from grounded_rag.testing.tamper.claims import languages, statements
from grounded_rag.testing.tamper.false_claims import without

COUNT = 10


@pytest.fixture(scope="module")
def pools():
    return pools_of(load_corpus("demo"))


@pytest.fixture(scope="module")
def no_pools():
    return pools_of(Corpus(name="none", passages=()))


def drawn(name, pools, count=COUNT, seed=1):
    kind = next(kind for kind in CLAIM_KINDS if kind.name == name)
    return draw_cases(kind, pools, count=count, seed=seed)


@pytest.mark.parametrize("kind", CLAIM_KINDS, ids=lambda kind: kind.name)
def test_every_quote_is_a_literal_part_of_its_passage(kind, pools):
    found = draw_cases(kind, pools, count=COUNT, seed=1)
    assert len(found) == COUNT
    for item in found:
        assert item.label == kind.label
        assert item.claim.strip()
        texts = {chunk.id: chunk.text for chunk in item.chunks}
        assert all(cited.quote in texts[cited.chunk_id] for cited in item.citations)


@pytest.mark.parametrize("kind", CLAIM_KINDS, ids=lambda kind: kind.name)
def test_the_same_seed_gives_the_same_claims(kind, pools):
    first, again = (draw_cases(kind, pools, count=COUNT, seed=4) for _ in range(2))
    assert first == again
    assert first != draw_cases(kind, pools, count=COUNT, seed=5)


def test_there_are_thousands_of_false_and_of_honest_claims_in_twelve_languages(no_pools):
    false = [c for k in FALSE_CLAIMS for c in draw_cases(k, no_pools, count=400, seed=0)]
    honest = [c for k in TRUE_CLAIMS for c in draw_cases(k, no_pools, count=400, seed=0)]
    assert len(false) >= 5000
    assert len(honest) >= 1000
    assert len({item.language for item in honest}) >= 12
    assert len({(item.claim, item.citations, item.chunks) for item in false}) == len(false)


def test_the_material_is_as_wide_as_the_classes_promise():
    frames = read("frames")
    assert sum(map(len, frames["en"].values())) >= 60
    assert sum(len(frames[code]["any"]) for code in frames if code != "en") >= 15
    assert sum(map(len, read("endings")["en"].values())) >= 60
    assert len(read("restrictions")["en"]["any"]) >= 30
    assert len(read("negations")) >= 20
    assert len(read("headings")["denying"]["en"]) >= 25
    assert len(read("lists")["false"]) >= 20
    assert len(read("statements")["statements"]) >= 40
    assert len(languages()) >= 12
    assert all(len(read("whole")[code]["sentences"]) >= 25 for code in languages())


@pytest.mark.parametrize("name", ["frames", "endings", "restrictions"])
def test_no_material_stands_twice(name):
    texts = list(strings(read(name)))
    assert len(set(texts)) == len(texts)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from itertools.chain.from_iterable(map(strings, value.values()))
    elif isinstance(value, list):
        yield from itertools.chain.from_iterable(map(strings, value))


@pytest.mark.parametrize("name", ["frame", "ending", "next_sentence", "withdrawn"])
def test_a_torn_claim_stands_word_by_word_in_a_longer_text(name, no_pools):
    for item in drawn(name, no_pools, count=100):
        words = item.claim.removesuffix(".").lower()
        assert words in item.chunks[0].text.lower()


@pytest.mark.parametrize("name", ["frame", "ending", "frame_other", "ending_other"])
def test_no_sentence_of_the_source_is_the_torn_claim(name, no_pools):
    for item in drawn(name, no_pools, count=200):
        assert not item.chunks[0].text.startswith(item.claim)
        assert f"{item.claim[-20:]} {item.claim}" not in item.chunks[0].text


def test_a_splice_cites_its_sentences_in_every_way(no_pools):
    found = drawn("splice", no_pools, count=100)
    assert {len(item.citations) for item in found} == {1, 2}
    assert {len(item.chunks) for item in found} == {1, 2}
    assert all(item.claim not in passage.text for item in found for passage in item.chunks)


def test_a_wrong_cell_is_never_the_right_one(no_pools):
    for item in drawn("table_other", no_pools, count=100):
        cell = item.claim.rstrip(".").rpartition(": ")[2].rpartition(" is ")[2]
        assert item.claim not in {right.claim for right in drawn("table_cell", no_pools, 400)}, cell


def test_a_heading_that_denies_stands_above_its_claim(no_pools):
    denying = set(itertools.chain.from_iterable(read("headings")["denying"].values()))
    for item in drawn("heading", no_pools, count=100):
        passage = item.chunks[0]
        before = passage.text[: passage.text.index(item.claim)]
        assert denying & set(passage.headings) or any(heading in before for heading in denying)


def test_a_spoofed_claim_holds_a_character_that_its_source_lacks(no_pools):
    for item in drawn("spoof", no_pools, count=100):
        assert set(item.poison) & set(item.claim)
        assert not set(item.poison) & set(item.chunks[0].text)


def test_whole_statements_are_their_quotes():
    nothing = pools_of(Corpus(name="none", passages=()))
    for name in ("whole", "whole_in_layout", "faq"):
        assert all(item.claim == item.quote for item in drawn(name, nothing, count=50))
    for name in ("presentation", "notation_own", "contraction", "pronoun", "linking_word"):
        assert all(item.claim != item.quote for item in drawn(name, nothing, count=50))


def test_the_part_in_brackets_is_dropped_and_the_rest_reads_on():
    assert without("The [draft] plan is ready.") == (
        "The draft plan is ready.",
        "The plan is ready.",
    )
    assert without("[A third of] the staff left.") == (
        "A third of the staff left.",
        "The staff left.",
    )
    assert without("They are quoted [gross].") == ("They are quoted gross.", "They are quoted.")


def test_insertions_stand_between_subject_and_verb():
    parcels, *_ = [s for s in statements() if s.clause.startswith("parcels")]
    assert parcels.subject == "parcels of up to 20 kilograms"
    assert all(statement.subject for statement in statements())


def verdict_of(text, *, tier="none", restatement=None, restated=False):
    return SimpleNamespace(
        text=text,
        supported=tier != "none",
        tier=tier,
        restatement=restatement,
        restated=restated,
        reason=None,
        why="",
    )


def test_a_claim_ships_by_its_tier_as_its_restatement_or_not_at_all():
    assert fate_of(verdict_of("It is.", tier="verbatim")) == "verbatim"
    assert fate_of(verdict_of("It is.", tier="confirmed")) == "confirmed"
    assert fate_of(verdict_of("It is.", restatement=SimpleNamespace(text="Or so."))) == "restated"
    assert fate_of(verdict_of("Or so.", tier="verbatim", restated=True)) == "restated"
    assert fate_of(verdict_of("It is.")) == "refused"


def test_a_claim_that_was_cleaned_of_its_poison_does_not_count_as_shipped():
    kept, clean = (verdict_of(text, tier="verbatim") for text in ("It is 1\u200b2.", "It is 12."))
    assert fate_of(kept, poison="\u200b") == "verbatim"
    assert fate_of(clean, poison="\u200b") == "refused"


def test_a_verifier_that_ships_everything_fails_and_one_that_ships_nothing_does_too():
    def credulous(draft, chunks):
        verdicts = [verdict_of(claim.text, tier="verbatim") for claim in draft.claims]
        return SimpleNamespace(claims=verdicts)

    def deaf(draft, chunks):
        return SimpleNamespace(claims=[])

    corpus = load_corpus("demo")
    kinds = [kind for kind in CLAIM_KINDS if kind.name in ("tense", "whole")]
    shipped = run_fuzz(corpus, per_class=5, verify=credulous, kinds=kinds)
    assert shipped.failed
    assert shipped.total("false").passed == 5
    assert run_fuzz(corpus, per_class=5, verify=deaf, kinds=kinds).failed
    honest = [kind for kind in kinds if kind.label == "honest"]
    assert not run_fuzz(corpus, per_class=5, verify=credulous, kinds=honest).failed
