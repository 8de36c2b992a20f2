"""Hypothesis strategies of our own domain."""

from hypothesis import strategies as st

from grounded_rag.testing import make_chunk
from grounded_rag.types import Citation, Claim, Draft

SENTENCES = (
    "The museum opens at 10:00 every day.",
    "A ticket costs 12 euros.",
    "Dogs are not allowed in the museum.",
    "Groups may book a guide up to 30 days ahead.",
    "定員は24名です。",
    "Der Eintritt ist am Montag frei.",
    "The café sells tea — and “cake”.",
)

chunks = st.lists(
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4).map(" ".join),
    min_size=1,
    max_size=4,
).map(
    lambda texts: [
        make_chunk(text, id=f"c{number}", rank=number, start=7 * number)
        for number, text in enumerate(texts, start=1)
    ]
)

any_text = st.text(
    alphabet=st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Z", "C")), max_size=40
)


@st.composite
def claims(draw):
    """A claim that may be honest, tampered with, misattributed, uncited or nonsense."""
    sentence = draw(st.sampled_from(SENTENCES))
    text = draw(st.sampled_from(SENTENCES) | any_text | st.just(sentence))
    quote = draw(
        st.just(sentence)
        | any_text
        | st.just(sentence.replace("1", "7"))
        | st.just(sentence.replace(" not", ""))
        | st.integers(0, len(sentence)).map(lambda cut: sentence[cut:])
    )
    chunk_id = draw(st.sampled_from(["c1", "c2", "c3", "c4", "[c1]", "c9", "", "1"]))
    citations = draw(
        st.lists(st.just(Citation(chunk_id=chunk_id, quote=quote)), min_size=0, max_size=2)
    )
    return Claim(text=text, citations=tuple(citations))


drafts = st.builds(
    Draft,
    claims=st.lists(claims(), max_size=5).map(tuple),
    unanswered=st.lists(any_text | st.just("what is a ticket"), max_size=2).map(tuple),
)
