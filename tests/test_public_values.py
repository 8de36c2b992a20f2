"""Public values: what tools such as an editor show of them, and what they refuse to hold."""

import pytest
from pydantic import ValidationError

import grounded_rag
from grounded_rag import events, types
from grounded_rag.receipts import findings
from grounded_rag.testing import make_chunk
from grounded_rag.types import PageSpan, Span


def test_every_field_of_a_public_value_has_a_description():
    public = [getattr(grounded_rag, name) for name in grounded_rag.__all__]
    public += [*vars(types).values(), *vars(events).values(), *vars(findings).values()]
    models = {each for each in public if isinstance(each, type) and issubclass(each, types.Frozen)}
    assert {"Answer", "Policy", "Receipt", "Verification"} <= {model.__name__ for model in models}
    for model in models:
        fields = model.model_json_schema(mode="serialization").get("properties", {})
        assert [name for name, field in fields.items() if not field.get("description")] == []


@pytest.mark.parametrize(("start", "end"), [(5, 4), (-1, 4), (-2, -1)])
def test_a_span_that_ends_before_it_starts_cannot_be_made(start, end):
    with pytest.raises(ValidationError):
        Span(start=start, end=end)
    assert len(Span(start=4, end=4)) == 0


def test_the_end_of_a_page_is_the_beginning_of_the_next():
    spans = [Span(start=0, end=10), Span(start=10, end=20)]
    pages = tuple(PageSpan(number=number, span=span) for number, span in enumerate(spans, start=1))
    chunk = make_chunk("A page and the next.").model_copy(update={"page_spans": pages})
    assert [chunk.page_of(offset) for offset in (0, 9, 10, 19)] == [1, 1, 2, 2]
