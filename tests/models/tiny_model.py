"""Writes a real, tiny cross-encoder: a tokenizer and an ONNX graph that compares words.

It says "entailed" when the premise holds every content word of the hypothesis, "contradicted"
when besides just one of them says "not", and "neutral" otherwise. Unknown words are never held.
"""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
FUNCTION = "the a an is are was were be of in on at to it and by for . , ? ! - : |".split()
NEGATION = ["not"]
CONTENT = """
    dam built 1962 open opens visitors valley river museum daily day dogs allowed ticket costs
    twelve eight euros kiosk coffee tea sells house red blue green bus train leaves station nine
    ten gate closed free monday garden lake deep cold warm old new bridge tower north south
    admission priced entry charge flower hours key door chair table lamp window
""".split()
VOCABULARY = {word: n for n, word in enumerate(SPECIAL + FUNCTION + NEGATION + CONTENT)}
THREE = ("entailment", "neutral", "contradiction")


def write_model(folder, *, labels=THREE, max_length=32, config=None, name="model.onnx"):
    """Write model, tokenizer and config; `labels` name the columns, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer().save(str(folder / "tokenizer.json"))
    told = {
        "model_type": "bert",
        "max_position_embeddings": max_length,
        "pad_token_id": 0,
        "id2label": {str(n): label for n, label in enumerate(labels)},
        **(config or {}),
    }
    (folder / "config.json").write_text(json.dumps(told), encoding="utf-8")
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    onnx.save(graph(tuple(label.lower() for label in labels)), str(path))
    return folder


def tokenizer():
    made = Tokenizer(models.WordLevel(VOCABULARY, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", VOCABULARY["[CLS]"]), ("[SEP]", VOCABULARY["[SEP]"])],
    )
    # As some published tables do: a limit and a padding of their own, which must not hold.
    made.enable_truncation(8)
    made.enable_padding(length=8)
    return made


def graph(labels):
    size = len(VOCABULARY)
    asked = np.zeros((size, 1), np.float32)
    for word in [*CONTENT, "[UNK]"]:
        asked[VOCABULARY[word]] = 1
    known = asked.copy()
    known[VOCABULARY["[UNK]"]] = 0
    negation = np.zeros((size, 1), np.float32)
    negation[VOCABULARY["not"]] = 1
    constants = {
        "identity": np.eye(size, dtype=np.float32),
        "asked": asked,
        "known": known,
        "negation": negation,
        "one": np.ones(1, np.float32),
        "slope": np.array([12], np.float32),
        "shift": np.array([9], np.float32),
        "turn": np.array([30], np.float32),
        "last": np.array([2], np.int64),
    }
    nodes = []

    def node(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    node("Gather", ["identity", "input_ids"], "words", axis=0)
    node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
    node("Cast", ["token_type_ids"], "second", to=TensorProto.FLOAT)
    node("Sub", ["one", "second"], "first")
    for side, kind in (("p", "first"), ("h", "second")):
        node("Mul", ["mask", kind], f"{side}_mask")
        node("Unsqueeze", [f"{side}_mask", "last"], f"{side}_wide")
        node("Mul", ["words", f"{side}_wide"], f"{side}_words")
        node("ReduceMax", [f"{side}_words"], f"{side}_bag", axes=[1], keepdims=0)
        node("MatMul", [f"{side}_bag", "negation"], f"{side}_not")
    node("Mul", ["p_bag", "h_bag"], "common")
    node("MatMul", ["common", "known"], "held")
    node("MatMul", ["h_bag", "asked"], "count")
    node("Max", ["count", "one"], "safe_count")
    node("Div", ["held", "safe_count"], "cover")
    node("Mul", ["cover", "slope"], "steep")
    node("Sub", ["steep", "shift"], "base")
    node("Sub", ["p_not", "h_not"], "signed")
    node("Abs", ["signed"], "differ")
    node("Sub", ["one", "differ"], "agree")
    node("Mul", ["differ", "turn"], "against")
    node("Mul", ["agree", "turn"], "with")
    node("Sub", ["base", "against"], "entails")
    node("Sub", ["base", "with"], "denies")
    node("Sub", ["base", "base"], "nothing")
    column = {"contradiction": "denies", "neutral": "nothing"}
    low = ("not_entailment", "label_0", "unsupported", "hallucinated")
    columns = [column.get(label, "nothing" if label in low else "entails") for label in labels]
    node("Concat", columns, "logits", axis=1)
    shape = ["batch", "length"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(labels)])
    made = helper.make_graph(
        nodes,
        "tiny",
        inputs,
        [output],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model
