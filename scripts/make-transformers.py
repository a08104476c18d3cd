#!/usr/bin/env python3
"""Makes the small random transformers of the tests, with the answers of PyTorch.

Each directory is one of Hugging Face, as `save_pretrained` writes it, with a tokenizer fitted to a
few sentences, and `expected.json`: the logits of a hundred texts, and of a few of them the gradients
of the first logit less half of the last one with respect to the embeddings of the pieces. Of a masked
language model it has the log-probabilities of words of theirs, all of whose pieces are masked, and of
other pieces in their places.

    pip install torch transformers safetensors
    python scripts/make-transformers.py tests/transformers [NAME ...]

With `--check DIR` instead, the answers for the model in DIR, of any size, are written to
DIR/expected.json, which `PROBITY_TRANSFORMER=DIR cargo test -p probity-nn --release --lib --
transformer_model -- --ignored` compares.
"""

import argparse
import json
import pathlib
import re

import tokenizers
import torch
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

SUBJECTS = "the old woman|my friend|a young man|the teacher from Berlin|our doctor".split("|")
VERBS = "writes|does not like|never forgets|praised|insulted|understands".split("|")
OBJECTS = "the café|that muslim neighbour|it's colour|her unbelievable stories|you".split("|")
SIZES = dict(classes=3, units=16, heads=2, layers=2, inner=24, positions=24, pieces=150)
GRADIENTS = 4


def texts():
    made = [f"{s} {v} {o}" for s in SUBJECTS for v in VERBS for o in OBJECTS]
    texts = made[::2][:70] + [f"{a}; {b}!" for a, b in zip(made[5:27], reversed(made))]
    return (texts + ["", " ", "Ünknøwn wörds, ok?", "😀 emoji", "a\tb\nc", "x" * 40, "UPPER Case",
                     "one two three " * 20])[:100]


def special(bos, eos, pad, unk, mask):
    return dict(cls_token=bos, sep_token=eos, pad_token=pad, unk_token=unk, mask_token=mask)


def word_piece():
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=SIZES["pieces"], special_tokens=marks)
    tokenizer.train_from_iterator(texts(), trainer)
    ends = [(mark, tokenizer.token_to_id(mark)) for mark in ("[SEP]", "[CLS]")]
    tokenizer.post_processor = processors.BertProcessing(*ends)
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer, special("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")


def byte_level():
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=2 * SIZES["pieces"],
        special_tokens=marks,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(texts(), trainer)
    ends = [(mark, tokenizer.token_to_id(mark)) for mark in ("</s>", "<s>")]
    tokenizer.post_processor = processors.RobertaProcessing(*ends)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, special("<s>", "</s>", "<pad>", "<unk>", "<mask>")


def unigram():
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=SIZES["pieces"], special_tokens=marks, unk_token="<unk>"
    )
    tokenizer.train_from_iterator(texts(), trainer)
    ends = [(mark, tokenizer.token_to_id(mark)) for mark in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=ends
    )
    return tokenizer, special("<s>", "</s>", "<pad>", "<unk>", "<mask>")


def configurations(pieces, pad):
    s = SIZES
    labels = {0: "calm", 1: "rude", 2: "hateful"}
    named = dict(id2label=labels, label2id={name: number for number, name in labels.items()})
    usual = dict(
        vocab_size=pieces, hidden_size=s["units"], num_hidden_layers=s["layers"],
        num_attention_heads=s["heads"], intermediate_size=s["inner"],
        max_position_embeddings=s["positions"], pad_token_id=pad, **named,
    )
    distilled = dict(
        vocab_size=pieces, dim=s["units"], n_layers=s["layers"], n_heads=s["heads"],
        hidden_dim=s["inner"], max_position_embeddings=s["positions"], pad_token_id=pad, **named,
    )
    t = transformers
    roberta = dict(**usual, type_vocab_size=1, layer_norm_eps=1e-5, hidden_act="gelu_new")
    xlm = dict(**usual, type_vocab_size=1, hidden_act="relu")
    return {
        "bert": (t.BertConfig(**usual), t.BertForSequenceClassification),
        "distilbert": (t.DistilBertConfig(**distilled), t.DistilBertForSequenceClassification),
        "roberta": (t.RobertaConfig(**roberta), t.RobertaForSequenceClassification),
        "xlm-roberta": (t.XLMRobertaConfig(**xlm), t.XLMRobertaForSequenceClassification),
        "encoder": (t.BertConfig(**usual), t.BertModel),
        "bert-masked": (t.BertConfig(**usual), t.BertForMaskedLM),
        "distilbert-masked": (t.DistilBertConfig(**distilled), t.DistilBertForMaskedLM),
        # With a matrix over the vocabulary of its own.
        "roberta-masked": (
            t.RobertaConfig(**roberta, tie_word_embeddings=False), t.RobertaForMaskedLM,
        ),
        "xlm-roberta-masked": (t.XLMRobertaConfig(**xlm), t.XLMRobertaForMaskedLM),
    }


def answers(model, tokenizer, longest, texts):
    """Logits, or means of the last states of an encoder, and gradients."""
    found = []
    for number, text in enumerate(texts):
        ids = tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")["input_ids"]
        embedded = model.get_input_embeddings()(ids).detach().requires_grad_()
        output = model(inputs_embeds=embedded, attention_mask=torch.ones_like(ids))
        values = output.logits[0] if "logits" in output else output.last_hidden_state[0].mean(0)
        answer = {"text": text, "pieces": ids[0].tolist(), "values": rounded(values)}
        if number % (len(texts) // GRADIENTS) == 0:
            (values[0] - values[-1] / 2).backward()
            answer["gradients"] = rounded(embedded.grad[0].flatten())
        found.append(answer)
    return found


def masked_answers(model, tokenizer, longest, texts):
    """Log-probabilities of a word of each text, and of the pieces before its own in the vocabulary."""
    found = []
    for number, text in enumerate(texts):
        words = list(re.finditer(r"\w+", text))
        if not words:
            continue
        # Words near both ends of texts, too, some of which are longer than the network reads.
        start, end = words[number % len(words)].span()
        encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        pieces, offsets = encoded["input_ids"], encoded["offset_mapping"]
        own = [i for i, (a, b) in enumerate(offsets) if a < end and start < b]
        room = longest - 2
        if not own or len(own) > room:
            continue
        before = (room - len(own)) // 2
        first = min(max(own[0] - before, 0), max(len(pieces) - room, 0))
        window = pieces[first:first + room]
        for place in own:
            window[place - first] = tokenizer.mask_token_id
        ids = [tokenizer.cls_token_id, *window, tokenizer.sep_token_id]
        logits = model(input_ids=torch.tensor([ids])).logits[0].double().log_softmax(-1)
        at = [place - first + 1 for place in own]
        likely = lambda asked: sum(logits[p, piece].item() for p, piece in zip(at, asked))
        asked = [pieces[place] for place in own]
        others = [max(piece - 1, 0) for piece in asked]
        found.append({
            "text": text,
            "word": [len(text[:place].encode()) for place in (start, end)],
            "pieces": ids, "at": [at[0], at[-1] + 1], "own": asked, "others": others,
            "values": [float(f"{likely(asked):.7g}") for asked in (asked, others)],
        })
    return found


def rounded(values):
    return [float(f"{value:.7g}") for value in values.tolist()]


def write(directory, found):
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    (directory / "expected.json").write_text(text.replace('{"text"', '\n{"text"') + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="of the directories to make, by default all")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.check:
        config = transformers.AutoConfig.from_pretrained(arguments.directory)
        model = getattr(transformers, config.architectures[0])
        model = model.from_pretrained(arguments.directory).eval()
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_file=str(arguments.directory / "tokenizer.json")
        )
        write(arguments.directory, answers(model, tokenizer, 64, texts()))
        return
    classifiers = ["bert", "distilbert", "roberta", "xlm-roberta"]
    for name in arguments.names or [*classifiers, "encoder", *(f"{n}-masked" for n in classifiers)]:
        torch.manual_seed(19)
        kinds = {"roberta": byte_level, "xlm-roberta": unigram}
        raw, marks = kinds.get(name.removesuffix("-masked"), word_piece)()
        pad = raw.token_to_id(marks["pad_token"])
        config, kind = configurations(raw.get_vocab_size(), pad)[name]
        model = kind(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                # Fresh weights are so small that a network hardly depends on its text.
                parameter.add_(torch.randn_like(parameter) * 0.25)
        directory = arguments.directory / name
        directory.mkdir(parents=True, exist_ok=True)
        model.save_pretrained(directory)
        raw.save(str(directory / "tokenizer.json"))
        config = json.loads((directory / "config.json").read_text())
        (directory / "config.json").write_text(json.dumps(config, indent=1, sort_keys=True) + "\n")
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, **marks)
        longest = SIZES["positions"] - (pad + 1 if "roberta" in name else 0)
        with torch.set_grad_enabled(not name.endswith("-masked")):
            answer = masked_answers if name.endswith("-masked") else answers
            write(directory, answer(model, tokenizer, longest, texts()))


if __name__ == "__main__":
    main()
