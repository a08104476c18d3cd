#!/usr/bin/env python3
"""Writes the small ONNX sentence encoders that the tests read, and what onnxruntime makes of them.

    pip install onnx onnxruntime tokenizers numpy
    python3 scripts/sentence_encoder_graphs.py

Every file goes to tests/data/sentence_encoder/ (or the folder named as the first argument):

    tokenizer.json        a lower-casing word tokenizer with [CLS] and [SEP], truncation at 12, padding to 16
    transformer.onnx      embeddings, one layer of two-headed attention, GELU, layer norms: [batch, tokens, 8]
    pooled.onnx           embeddings, masked mean, linear, two outputs: `sentence_embedding` [batch, 6] is the second
    fixed_length.onnx     embeddings and a linear map for exactly 10 tokens, 32-bit integer inputs
    foreign_operator.onnx, foreign_input.onnx, not_finite.onnx, narrow_table.onnx, no_embedding.onnx
                          files that must be refused
    recorded.json         per model, per text: the normalised embedding computed from onnxruntime's output

The weights are drawn from a fixed seed. The transformer follows the layout of BERT; it was trained on nothing.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WIDTH, HEADS, INNER, POSITIONS = 8, 2, 16, 32
WORDS = (
    "[PAD] [UNK] [CLS] [SEP] a the he she his her is was not very good bad kind clever lazy rude doctor nurse "
    "teacher from japan france kenya people work worked hard here said that they and . , !"
).split()
TEXTS = [
    "She is a very good doctor .",
    "he is a very good doctor .",
    "The nurse from Kenya said that they worked hard here , and the teacher from France was not kind !",
    "people",
    "a zebra was rude",
]


def constants(generator, **shapes):
    """Normal weights of the shapes given, as initialisers: small biases and shifts, scales about 1."""

    def drawn(name, shape):
        small = name.endswith(("_bias", "_shift", "_scale"))
        values = generator.standard_normal(shape) * (0.1 if small else 0.6)
        return values + (1 if name.endswith("_scale") else 0)

    return [
        numpy_helper.from_array(drawn(name, shape).astype(np.float32), name) for name, shape in shapes.items()
    ]


def integers(**values):
    return [numpy_helper.from_array(np.asarray(value, dtype=np.int64), name) for name, value in values.items()]


def ids(name, kind=TensorProto.INT64, shape=("batch", "tokens")):
    return helper.make_tensor_value_info(name, kind, list(shape))


def floats(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def save(folder, name, nodes, inputs, outputs, initialisers, opset=17):
    graph = helper.make_graph(nodes, name, inputs, outputs, initialisers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="probity tests")
    model.ir_version = 8
    onnx.save(model, folder / f"{name}.onnx")


def node(operator, inputs, output, **attributes):
    return helper.make_node(operator, inputs.split(), [output], **attributes)


def layer_norm(prefix, source, output):
    return node("LayerNormalization", f"{source} {prefix}_scale {prefix}_shift", output, axis=-1, epsilon=1e-12)


def linear(prefix, source, output):
    return [
        node("MatMul", f"{source} {prefix}_weight", f"{output}_product"),
        node("Add", f"{output}_product {prefix}_bias", output),
    ]


def heads(source, output):
    """[batch, tokens, width] to [batch, heads, tokens, width / heads]."""
    return [
        node("Reshape", f"{source} split_heads", f"{output}_split"),
        node("Transpose", f"{output}_split", output, perm=[0, 2, 1, 3]),
    ]


def transformer(folder, generator):
    nodes = [
        # Positions 0 … tokens − 1, from the shape of the ids.
        node("Shape", "input_ids", "shape"),
        node("Gather", "shape one", "tokens", axis=0),
        node("Range", "zero tokens one", "positions"),
        node("Gather", "word_table input_ids", "words"),
        node("Gather", "type_table token_type_ids", "types"),
        node("Gather", "position_table positions", "placed"),
        node("Add", "words types", "typed"),
        node("Add", "typed placed", "embedded"),
        layer_norm("first", "embedded", "hidden"),
        # Tokens off the mask get a score of −10,000.
        node("Cast", "attention_mask", "mask", to=TensorProto.FLOAT),
        node("Unsqueeze", "mask mask_axes", "mask_wide"),
        node("Sub", "one_float mask_wide", "off"),
        node("Mul", "off far", "penalty"),
        *linear("query", "hidden", "queries"),
        *linear("key", "hidden", "keys"),
        *linear("value", "hidden", "values"),
        *heads("queries", "query_heads"),
        *heads("keys", "key_heads"),
        *heads("values", "value_heads"),
        node("Transpose", "key_heads", "key_columns", perm=[0, 1, 3, 2]),
        node("MatMul", "query_heads key_columns", "products"),
        node("Div", "products root", "scaled"),
        node("Add", "scaled penalty", "scores"),
        node("Softmax", "scores", "weights", axis=-1),
        node("MatMul", "weights value_heads", "mixed"),
        node("Transpose", "mixed", "mixed_rows", perm=[0, 2, 1, 3]),
        node("Reshape", "mixed_rows join_heads", "joined"),
        *linear("out", "joined", "attended"),
        node("Add", "attended hidden", "residual"),
        layer_norm("second", "residual", "middle"),
        *linear("up", "middle", "raised"),
        node("Div", "raised root_two", "erf_in"),
        node("Erf", "erf_in", "erf_out"),
        node("Add", "erf_out one_float", "erf_one"),
        node("Mul", "raised erf_one", "gelu_double"),
        node("Mul", "gelu_double half", "gelu"),
        *linear("down", "gelu", "lowered"),
        node("Add", "lowered middle", "end"),
        layer_norm("third", "end", "last_hidden_state"),
        # BERT's own pooler reads the first token; it is no sentence embedding and must not be chosen.
        node("Gather", "last_hidden_state zero", "first_token", axis=1),
        node("Tanh", "first_token", "pooler_output"),
    ]
    square = (WIDTH, WIDTH)
    initialisers = constants(
        generator,
        word_table=(len(WORDS), WIDTH), type_table=(2, WIDTH), position_table=(POSITIONS, WIDTH),
        query_weight=square, query_bias=WIDTH, key_weight=square, key_bias=WIDTH,
        value_weight=square, value_bias=WIDTH, out_weight=square, out_bias=WIDTH,
        up_weight=(WIDTH, INNER), up_bias=INNER, down_weight=(INNER, WIDTH), down_bias=WIDTH,
        first_scale=WIDTH, first_shift=WIDTH, second_scale=WIDTH, second_shift=WIDTH,
        third_scale=WIDTH, third_shift=WIDTH,
    )
    initialisers += integers(
        zero=0, one=1, mask_axes=[1, 2], split_heads=[0, 0, HEADS, WIDTH // HEADS], join_heads=[0, 0, WIDTH]
    )
    single = dict(one_float=1, far=-10_000, root=np.sqrt(WIDTH // HEADS), root_two=np.sqrt(2), half=0.5)
    initialisers += [numpy_helper.from_array(np.float32(value), name) for name, value in single.items()]
    save(
        folder, "transformer", nodes,
        [ids("input_ids"), ids("attention_mask"), ids("token_type_ids")],
        [floats("pooler_output", "batch", WIDTH), floats("last_hidden_state", "batch", "tokens", WIDTH)],
        initialisers,
    )


def pooled(folder, generator):
    nodes = [
        node("Gather", "table input_ids", "token_embeddings"),
        node("Cast", "attention_mask", "mask", to=TensorProto.FLOAT),
        node("Unsqueeze", "mask last", "mask_wide"),
        node("Mul", "token_embeddings mask_wide", "kept"),
        node("ReduceSum", "kept middle", "total", keepdims=0),
        node("ReduceSum", "mask_wide middle", "count", keepdims=0),
        node("Div", "total count", "mean"),
        *linear("dense", "mean", "sentence_embedding"),
    ]
    initialisers = constants(generator, table=(len(WORDS), WIDTH), dense_weight=(WIDTH, 6), dense_bias=6)
    initialisers += integers(last=[-1], middle=[1])
    save(
        folder, "pooled", nodes, [ids("input_ids"), ids("attention_mask")],
        [floats("token_embeddings", "batch", "tokens", WIDTH), floats("sentence_embedding", "batch", 6)],
        initialisers,
    )


def fixed_length(folder, generator):
    nodes = [node("Gather", "table input_ids", "embedded"), *linear("dense", "embedded", "token_embeddings")]
    initialisers = constants(generator, table=(len(WORDS), WIDTH), dense_weight=(WIDTH, 5), dense_bias=5)
    # The mask is asked for and used, so that no reader may leave it out: the rows of padding become zero.
    nodes[-1].output[0] = "unmasked"
    nodes += [
        node("Cast", "attention_mask", "mask", to=TensorProto.FLOAT),
        node("Unsqueeze", "mask last", "mask_wide"),
        node("Mul", "unmasked mask_wide", "token_embeddings"),
    ]
    shape = (1, 10)
    save(
        folder, "fixed_length", nodes,
        [ids("input_ids", TensorProto.INT32, shape), ids("attention_mask", TensorProto.INT32, shape)],
        [floats("token_embeddings", 1, 10, 5)],
        initialisers + integers(last=[-1]),
    )


def refused(folder, generator):
    """Graphs that are read or run to an error."""
    table = constants(generator, table=(len(WORDS), 3))
    rows = [floats("token_embeddings", "batch", "tokens", 3)]
    gather = node("Gather", "table input_ids", "found")
    foreign = helper.make_node("HashBuckets", ["found"], ["token_embeddings"], domain="example.org")
    save(folder, "foreign_operator", [gather, foreign], [ids("input_ids")], rows, table)

    added = [gather, node("Add", "found pixel_values", "token_embeddings")]
    save(folder, "foreign_input", added, [ids("input_ids"), floats("pixel_values", 1, 1, 3)], rows, table)

    logarithm = [gather, node("Sqrt", "found", "token_embeddings")]
    save(folder, "not_finite", logarithm, [ids("input_ids")], rows, table)

    narrow = constants(generator, table=(3, 3))
    save(folder, "narrow_table", [node("Gather", "table input_ids", "token_embeddings")], [ids("input_ids")], rows, narrow)

    scalar = [gather, node("ReduceMean", "found", "score", keepdims=0)]
    save(folder, "no_embedding", scalar, [ids("input_ids")], [floats("score")], table)


def word_tokenizer():
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [("[CLS]", WORDS.index("[CLS]")), ("[SEP]", WORDS.index("[SEP]"))]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    tokenizer.enable_truncation(12)
    tokenizer.enable_padding(pad_id=WORDS.index("[PAD]"), pad_token="[PAD]", length=16)
    return tokenizer


def embedding(session, output, tokens, length):
    """The normalised embedding of one text, its padding cut off (or cut and filled to `length`)."""
    kept = [i for i, on in zip(tokens.ids, tokens.attention_mask) if on]
    if length:
        kept = kept[: length - 1] + kept[-1:] if len(kept) > length else kept
    mask = [1] * len(kept)
    if length:
        mask += [0] * (length - len(kept))
        kept += [WORDS.index("[PAD]")] * (length - len(kept))
    columns = {"input_ids": kept, "attention_mask": mask, "token_type_ids": [0] * len(kept)}
    feeds = {
        one.name: np.asarray([columns[one.name]], dtype=np.int32 if "int32" in one.type else np.int64)
        for one in session.get_inputs()
    }
    result = session.run([output], feeds)[0].astype(np.float64)[0]
    if result.ndim == 2:
        weights = np.asarray(mask, dtype=np.float64)
        result = weights @ result / weights.sum()
    return (result / np.linalg.norm(result)).tolist()


def main():
    default = Path(__file__).resolve().parent.parent / "tests" / "data" / "sentence_encoder"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(7)
    for write in (transformer, pooled, fixed_length, refused):
        write(folder, generator)
    tokenizer = word_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)

    recorded = {"onnxruntime": onnxruntime.__version__, "texts": TEXTS, "models": {}}
    outputs = {"transformer": ("last_hidden_state", None), "pooled": ("sentence_embedding", None),
               "fixed_length": ("token_embeddings", 10)}
    for name, (output, length) in outputs.items():
        session = onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), providers=["CPUExecutionProvider"])
        recorded["models"][name] = [embedding(session, output, tokenizer.encode(text), length) for text in TEXTS]
    (folder / "recorded.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
