"""Judges small enough to be made on the spot: an encoder-decoder and classifiers, with tokenizers of a few words.

The encoder-decoder is noise, but noise that often says `1`, in many ways. The weights of the classifier are set by hand
so that it finds one word in the premise: what it decides has a reason.
"""

from __future__ import annotations

import random
import string
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    T5Config,
    T5ForConditionalGeneration,
    T5ForTokenClassification,
    T5Tokenizer,
)

WORDS = "the tower was built tall lamp keeper rock sea boat wind light stone island ship storm gull harbour".split()
TELLING = "lit"  # the word that entails
DENYING = "never"  # the word that contradicts
NLI = {0: "contradiction", 1: "neutral", 2: "entailment"}

# ---------------------------------------------------------------- encoder-decoders

_SENTINELS = 6
_SAID = ("▁1", "1", "▁0", "▁", "▁x")


def t5_tokenizer() -> T5Tokenizer:
    """Letters, digits and two ways of writing 1."""
    control = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    said = [(piece, -2.0) for piece in _SAID]
    letters = [(letter, -4.0) for letter in string.ascii_letters + string.digits + ":.,'" if letter not in _SAID]
    return T5Tokenizer(vocab=[*control, *said, *letters], extra_ids=_SENTINELS)


def t5(seed: int = 0) -> T5ForConditionalGeneration:
    """Replies are drawn, mostly, from the few pieces that are or are near `1`, control tokens and the end."""
    tokenizer = t5_tokenizer()
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=16,
        d_ff=32,
        d_kv=8,
        num_layers=2,
        num_heads=2,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
    )
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        model = T5ForConditionalGeneration(config).eval()
        for weights in model.decoder.parameters():
            weights += 0.3 * torch.randn_like(weights)  # or it would only say again what it said last
        head = torch.randn_like(model.lm_head.weight)
        likely = tokenizer.convert_tokens_to_ids(["▁1", "1", "▁", "</s>", "<extra_id_0>"])
        head[[token for token in range(len(tokenizer)) if token not in likely]] *= 0.2
        model.lm_head.weight = torch.nn.Parameter(head)  # transformers ties it to the embeddings, T5 1.1 does not
    return model


def seq2seq(folder: Path, seed: int = 0) -> Path:
    """An encoder-decoder with its tokenizer in the folder."""
    t5(seed).save_pretrained(folder)
    t5_tokenizer().save_pretrained(folder)
    return folder


# ---------------------------------------------------------------- classifiers


def word_tokenizer(pad: int = 0) -> PreTrainedTokenizerFast:
    """A token a word; `pad` is the id of the token that fills rows up."""
    control = ["[CLS]", "[SEP]", "[UNK]"]
    control.insert(pad, "[PAD]")
    vocabulary = {word: n for n, word in enumerate([*control, *WORDS, TELLING, DENYING, *"Title : . ? 1 2 3".split()])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    raw.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    names = {"cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]", "pad_token": "[PAD]"}
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, model_input_names=["input_ids", "token_type_ids", "attention_mask"], **names
    )


def _classifier(labels: int, window: int) -> BertForSequenceClassification:
    """Entailed where `TELLING` stands in a row, contradicted where `DENYING` does; with one to three logits.

    Its one layer looks for the two words, which have a dimension each, and carries what it finds to the first token.
    """
    tokenizer = word_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=window,
        num_labels=labels,
    )
    chosen = torch.diag(torch.tensor([1.0, 1.0] + 6 * [0.0]))
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        model = BertForSequenceClassification(config).eval()
        words = model.bert.embeddings.word_embeddings.weight
        words.normal_(std=0.05)
        words[:, 2] += 1.0
        for dimension, word in enumerate((TELLING, DENYING)):
            words[tokenizer.convert_tokens_to_ids(word), [dimension, 2]] += torch.tensor([1.0, -1.0])
        layer = model.bert.encoder.layer[0]
        layer.attention.self.query.weight.zero_()
        layer.attention.self.query.bias.copy_(12 * chosen.diag())
        for part, weight in (("key", chosen), ("value", chosen)):
            getattr(layer.attention.self, part).weight.copy_(weight)
        layer.attention.output.dense.weight.copy_(torch.eye(8))
        layer.output.dense.weight.zero_()
        model.bert.pooler.dense.weight.copy_(torch.eye(8))
        model.classifier.weight.zero_()
        model.classifier.weight[-1, 0] = 10.0
        model.classifier.bias[-1] = -2.0
        if labels == 3:
            model.classifier.weight[0, 1] = 10.0
            model.classifier.bias[0] = -2.0
    return model


def noise(chance: random.Random, words: int) -> str:
    """Words that tell nothing."""
    return " ".join(chance.choice(WORDS) for _ in range(words))


def cross(folder: Path, labels: dict[int, str] | int = 3, window: int = 64) -> Path:
    """The classifier in the folder; `labels` are the names of its classes, or their number, unnamed."""
    count = labels if isinstance(labels, int) else len(labels)
    model = _classifier(count, window)
    model.config.id2label = labels if isinstance(labels, dict) else {n: f"LABEL_{n}" for n in range(count)}
    model.config.label2id = {name: n for n, name in model.config.id2label.items()}
    model.save_pretrained(folder)
    word_tokenizer().save_pretrained(folder)
    return folder


def roberta(folder: Path, positions: int = 34) -> Path:
    """An untrained classifier that counts positions from behind the one of its padding, and says no other limit."""
    tokenizer = word_tokenizer(pad=1)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=positions,
        type_vocab_size=2,
        pad_token_id=1,
        num_labels=2,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        RobertaForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


# ---------------------------------------------------------------- families that people know

SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[UNK]")


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """A token a byte, so that every text differs from every other."""
    vocabulary = {text: n for n, text in enumerate([*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    raw = Tokenizer(models.BPE(vocabulary, [], unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    ends = [(end, vocabulary[end]) for end in ("[CLS]", "[SEP]")]
    raw.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ends
    )
    names = {"cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]", "pad_token": "[PAD]"}
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="[SEP]", model_input_names=["input_ids", "attention_mask"], **names
    )


def _sizes(tokenizer: PreTrainedTokenizerFast, **more: int) -> dict[str, int]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "pad_token_id": 0,
        **more,
    }


def _write(folder: Path, kind: type, config: object, tokenizer: PreTrainedTokenizerFast, seed: int = 0) -> Path:
    """A model with weights wide enough that its classes differ from text to text."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        model = kind(config).eval()
        for weights in model.parameters():
            weights += 0.3 * torch.randn_like(weights)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def deberta(folder: Path, labels: int = 2) -> Path:
    """As MiniCheck's and FactCG's: positions are relative, whatever number the config names."""
    tokenizer = byte_tokenizer()
    config = DebertaV2Config(
        **_sizes(tokenizer, max_position_embeddings=64, num_labels=labels, type_vocab_size=0),
        relative_attention=True,
        position_biased_input=False,
        pos_att_type=["p2c", "c2p"],
        position_buckets=8,
    )
    return _write(folder, DebertaV2ForSequenceClassification, config, tokenizer)


def _t5_config(tokenizer: PreTrainedTokenizerFast) -> T5Config:
    sizes = {"d_model": 16, "d_ff": 32, "d_kv": 8, "num_layers": 2, "num_heads": 2}
    return T5Config(vocab_size=len(tokenizer), decoder_start_token_id=0, pad_token_id=0, eos_token_id=2, **sizes)


def minicheck_t5(folder: Path) -> Path:
    tokenizer = byte_tokenizer()
    return _write(folder, T5ForConditionalGeneration, _t5_config(tokenizer), tokenizer)


def token_t5(folder: Path) -> Path:
    tokenizer = byte_tokenizer()
    return _write(folder, T5ForTokenClassification, _t5_config(tokenizer), tokenizer)
