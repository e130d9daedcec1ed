"""A chat model small enough to be made on the spot: random weights, but real files, tokenizer and chat template.

It is a GPT-2 of 80 thousand weights, so its window is a hard limit: a position beyond it does not exist. What it writes
is noise with citations strewn in, the same for the same seed, and mostly as long as it may be.
"""

from __future__ import annotations

import re
from pathlib import Path

WINDOW = 4096  # tokens
SENTENCES = (
    "The lighthouse on Kettle Rock was lit for the first time in May 1824.",
    "Three keepers lived in the tower until the lamp was automated in 1978 [1].",
    "Answer the question from the passages below and cite the passages that support each sentence.",
    "Question: who built the tower, and when was it built? Answer: Hannah Pell built it [1][2].",
    "Passage 1 says nothing about the claim, so the claim is not supported by it.",
    "Write the next sentence, or END when the answer is complete.",
)
CHAT = (
    "{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
CITATIONS = (" [1].", " [2].", " [1][3].")
SPECIAL = ("<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>")


def make(folder: Path, *, seed: int = 0, window: int = WINDOW, chat: str | None = CHAT, samples: bool = False) -> Path:
    """Writes the model into the folder and returns it.

    `chat` is its chat template, None for a model without one; `samples` is whether it draws where nobody says how.
    """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = _tokenizer(chat)
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    # Wide initial weights: with narrow ones the logits hardly differ, and greedy decoding is a tie.
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=window,
        n_embd=16,
        n_layer=2,
        n_head=2,
        initializer_range=0.5,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=pad,
    )
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        model = GPT2LMHeadModel(config)
        _strew(model.transformer, tokenizer.convert_tokens_to_ids(list(CITATIONS)), (pad, end))
    model.generation_config.do_sample = samples
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _strew(transformer, likely: list[int], unlikely: tuple[int, ...]) -> None:
    """Makes some tokens likely after every other one, and some hardly ever drawn."""
    words, last = transformer.wte.weight, transformer.ln_f.bias
    last[0] = 4.0  # the first dimension of a token's weights now is its bias
    words[:, 0] = 0.0
    words[likely, 0] = 1.0
    words[list(unlikely)] = 0.0


def teach(folder: Path, prompt: str, reply: str) -> None:
    """Trains the model in the folder until its likeliest reply to exactly this prompt is this one."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    asked = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    told = [*tokenizer(reply, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    tokens = torch.tensor([asked + told])
    descent = torch.optim.Adam(model.parameters(), lr=0.01)
    model.train(False)  # no dropout: what it says in the end is what it learned
    for _ in range(400):
        logits = model(tokens).logits[0, len(asked) - 1 : -1]
        if logits.argmax(dim=-1).tolist() == told and logits.detach().softmax(-1).amax(-1).min().item() > 0.9:
            model.save_pretrained(folder)
            return
        descent.zero_grad()
        torch.nn.functional.cross_entropy(logits, tokens[0, len(asked) :]).backward()
        descent.step()
    raise AssertionError("the tiny model could not learn the reply")


def word_in(noise: str) -> str:
    """Three letters that stand in the noise, though not at its beginning."""
    found = re.search(r"[A-Za-z]{3}", noise[1:])
    assert found is not None, f"no three letters in {noise!r}"
    return found[0]


def _tokenizer(template: str | None):
    """Byte-level pairs learned from a few sentences: every text can be encoded."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=512, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    raw.train_from_iterator(SENTENCES, trainer)
    raw.add_tokens(list(CITATIONS))
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<|pad|>", eos_token="<|end|>", chat_template=template
    )
