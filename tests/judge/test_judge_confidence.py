"""Token confidence: names and numbers that the model was unsure of go to the deciders."""

import json
import math

import anyio
import pytest

from grounded_rag import ClaimStatus, FlagKind, Tier
from grounded_rag.protocols import EntailmentScores, TokenLogprob
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.verifier import verify_and_confirm

TEXT = "The Akosombo dam was built in 1962. It cost 130 million pounds."
BUILT = "The Akosombo dam was built in 1962."
COST = "It cost 130 million pounds."


class Model:
    name = "fixed-model"

    def __init__(self, entailment):
        self.scores = EntailmentScores(entailment=entailment, neutral=0, contradiction=0)
        self.asked = []

    def score(self, pairs):
        self.asked += [pair.hypothesis for pair in pairs]
        return [self.scores] * len(pairs)


def tokens(text, **unsure):
    """Cut a text into tokens of three characters, all of them sure but those of some words."""
    sure = [1.0] * len(text)
    for word, probability in unsure.items():
        start = text.index(word.removeprefix("n"))
        for position in range(start, start + len(word.removeprefix("n"))):
            sure[position] = probability
    cut = range(0, len(text), 3)
    return tuple(
        TokenLogprob(text=text[n : n + 3], logprob=math.log(min(sure[n : n + 3]))) for n in cut
    )


def output(*claims, ascii_only=False):
    listed = [{"text": claim, "quote": claim} for claim in claims]
    return json.dumps({"claims": listed}, ensure_ascii=ascii_only)


def verified(*claims, given, model=None, text=TEXT):
    draft = [{"text": claim, "chunk_id": "c1", "quote": claim} for claim in claims]

    async def run():
        return await verify_and_confirm(
            draft,
            [{"id": "c1", "text": text}],
            question=None,
            as_of=None,
            rules=Rules(entailment=model),
            tokens=given,
        )

    return anyio.run(run).verification


def test_a_verbatim_claim_with_an_unsure_number_goes_to_the_decider():
    given = tokens(output(BUILT, COST), n1962=0.3)
    model = Model(0.9)
    found = verified(BUILT, COST, given=given, model=model)
    assert [claim.tier for claim in found.claims] == [Tier.CONFIRMED, Tier.VERBATIM]
    assert model.asked == [BUILT]
    (flag,) = [flag for flag in found.flags if flag.kind is FlagKind.UNSURE_TOKENS]
    assert flag.claim == 0
    assert "“1962” (30%)" in flag.detail
    assert not verified(BUILT, given=given, model=Model(0.1)).claims[0].supported


def test_without_a_decider_it_is_open_and_the_source_may_speak_for_it():
    verdict = verified(BUILT, given=tokens(output(BUILT), Akosombo=0.2)).claims[0]
    assert (verdict.status, verdict.tier) == (ClaimStatus.OPEN, Tier.NONE)
    assert "Akosombo" in verdict.why
    assert verdict.restatement == BUILT


def test_unsure_words_that_are_no_names_or_numbers_do_not_matter():
    verdict = verified(BUILT, given=tokens(output(BUILT), built=0.01)).claims[0]
    assert verdict.tier is Tier.VERBATIM
    assert verdict.signals[-1].passed is True


@pytest.mark.parametrize("where", ["text", "quote"])
def test_doubt_counts_in_the_claim_and_in_its_quote(where):
    text = output(BUILT)
    doubted = text.index("1962", text.index(f'"{where}"'))
    given = list(tokens(text))
    given[doubted // 3] = TokenLogprob(text=given[doubted // 3].text, logprob=math.log(0.1))
    assert verified(BUILT, given=given).claims[0].status is ClaimStatus.OPEN


@pytest.mark.parametrize("ascii_only", [True, False])
def test_claims_are_found_however_json_escapes_them(ascii_only):
    claim = 'The "Żelazny" dam was built in 1962.'
    given = tokens(output(claim, ascii_only=ascii_only), n1962=0.1)
    assert verified(claim, given=given, text=claim).claims[0].status is ClaimStatus.OPEN


@pytest.mark.parametrize("given", [(), tokens("something else")])
def test_without_the_claims_tokens_there_is_no_signal(given):
    verdict = verified(BUILT, given=given).claims[0]
    assert verdict.tier is Tier.VERBATIM
    assert "token_confidence" not in {signal.check for signal in verdict.signals}


def test_a_probability_that_is_none_counts_as_unsure():
    given = [
        TokenLogprob.model_construct(text=token.text, logprob=math.nan)
        for token in tokens(output(BUILT))
    ]
    assert verified(BUILT, given=given).claims[0].status is ClaimStatus.OPEN
