"""What tools show of the public values: OpenAPI, an editor, the API reference."""

import grounded_rag
from grounded_rag import events, types
from grounded_rag.receipts import findings


def test_every_field_of_a_public_value_has_a_description():
    public = [getattr(grounded_rag, name) for name in grounded_rag.__all__]
    public += [*vars(types).values(), *vars(events).values(), *vars(findings).values()]
    models = {each for each in public if isinstance(each, type) and issubclass(each, types.Frozen)}
    assert {"Answer", "Policy", "Receipt", "Verification"} <= {model.__name__ for model in models}
    for model in models:
        fields = model.model_json_schema(mode="serialization").get("properties", {})
        assert [name for name, field in fields.items() if not field.get("description")] == []
