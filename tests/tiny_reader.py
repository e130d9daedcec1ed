"""A model that marks answers in a text, small enough to be made on the spot: a RoBERTa of random weights.

Its window is 62 tokens, so a text of some sentences takes several.
"""

from __future__ import annotations

from pathlib import Path

from tests.tiny_model import SENTENCES

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")


def make(folder: Path, *, seed: int = 0) -> Path:
    """Writes the model into the folder and returns it."""
    import torch
    from transformers import RobertaConfig, RobertaForQuestionAnswering

    tokenizer = _tokenizer()
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        type_vocab_size=1,
        initializer_range=0.5,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        RobertaForQuestionAnswering(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def teach(folder: Path, told: list[tuple[str, str, str]]) -> None:
    """Trains the model until it marks the third text in the second when asked the first; "" is its first token."""
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForQuestionAnswering.from_pretrained(folder, local_files_only=True).train(False)
    rows = [tokenizer(question, text, return_tensors="pt") for question, text, _ in told]
    places = []
    for row, (_, text, answer) in zip(rows, told, strict=True):
        first = text.index(answer)
        ends = (row.char_to_token(0, first, 1), row.char_to_token(0, first + len(answer) - 1, 1)) if answer else (0, 0)
        places.append(tuple(torch.tensor([end]) for end in ends))
    descent = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(200):
        losses = [
            model(**row, start_positions=s, end_positions=e).loss for row, (s, e) in zip(rows, places, strict=True)
        ]
        loss = torch.stack(losses).max()
        if loss.item() < 0.05:
            model.save_pretrained(folder)
            return
        descent.zero_grad()
        loss.backward()
        descent.step()
    raise AssertionError("the tiny reader could not learn to mark the answers")


def _tokenizer():
    """Byte-level pairs with RoBERTa's frame around a question and a text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    raw.train_from_iterator(SENTENCES, trainer)
    end, begin = (("</s>", raw.token_to_id("</s>")), ("<s>", raw.token_to_id("<s>")))
    raw.post_processor = processors.RobertaProcessing(end, begin, add_prefix_space=False)
    return PreTrainedTokenizerFast(
        tokenizer_object=raw,
        cls_token="<s>",
        bos_token="<s>",
        sep_token="</s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_input_names=["input_ids", "attention_mask"],
    )
