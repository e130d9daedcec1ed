"""An encoder-decoder made on the spot to stand for TRUE: noise, but noise that says `1` to about half of its pairs.

Its weights are random and its verdicts mean nothing; it is there to be asked. Real are the tokenizer's pieces (the
passages' words), the reply of one token and the end, and that what it says depends on all of a pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

import torch
from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

PIECES = 16_000
WIDTH, LAYERS = 64, 2
SAYS_YES = 0.55  # the part of the pairs that are to get a `1`
_SURE = 8.0  # how far apart the likelihoods of `1` and `0` are, in logits
_CONTROL = ("<pad>", "</s>", "<unk>")
_YES, _NO = "▁1", "▁0"


def make(folder: Path, texts: Sequence[str], pairs: Sequence[str], seed: int = 0) -> Path:
    """Writes the model; its pieces are the words of `texts`, and `SAYS_YES` of `pairs` (as it reads them) get a `1`."""
    tokenizer = _tokenizer(texts)
    model = _model(tokenizer, seed)
    _settle(model, tokenizer, pairs)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer(texts: Sequence[str]) -> Any:
    """The commonest words are a piece each, any other word falls apart into letters."""
    counts = Counter(f"▁{word}" for text in texts for word in text.split())
    counts -= Counter({_YES: counts[_YES], _NO: counts[_NO]})
    common = sorted(counts, key=lambda word: (-counts[word], word))[:PIECES]
    letters = sorted({letter for text in texts for letter in text if not letter.isspace()} | {"▁"})
    scored = {word: log(counts[word] / counts.total()) for word in common} | {_YES: -6.0, _NO: -6.0}
    pieces = [(name, 0.0) for name in _CONTROL] + list(scored.items())
    return T5Tokenizer(vocab=[*pieces, *((letter, -20.0) for letter in letters if letter not in scored)], extra_ids=0)


def _model(tokenizer: Any, seed: int) -> Any:
    options: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "d_model": WIDTH,
        "d_ff": 2 * WIDTH,
        "d_kv": WIDTH // 2,
        "num_heads": 2,
        "num_layers": LAYERS,
        "dropout_rate": 0.0,
        "initializer_factor": 2.0,  # with narrow weights every pair would look the same
        "tie_word_embeddings": False,
        "decoder_start_token_id": 0,
    }
    torch.manual_seed(seed)
    model: Any = T5ForConditionalGeneration(T5Config(**options))
    return model.eval()


@torch.inference_mode()
def _settle(model: Any, tokenizer: Any, pairs: Sequence[str]) -> None:
    """Weighs the last layer so that a reply is `1` or `0` and then ends; `1` for the chosen part of the pairs."""
    yes, no, end = (tokenizer.convert_tokens_to_ids(piece) for piece in (_YES, _NO, "</s>"))
    first = _states(model, tokenizer, pairs, [0])
    behind = torch.cat([_states(model, tokenizer, pairs[:64], [0, reply]) for reply in (yes, no)])
    mean = first.mean(dim=0)
    _, _, directions = torch.linalg.svd(first - mean, full_matrices=False)
    apart = directions[0]  # where the pairs differ most
    sizes = torch.tensor([float(len(text)) for text in pairs])
    if (first @ apart) @ (sizes - sizes.mean()) < 0:  # more premises entail more, as they do to a judge that can read
        apart = -apart
    threshold = ((first @ apart) / (first @ mean)).quantile(1 - SAYS_YES)
    leaning = apart - threshold * mean
    leaning *= _SURE / (first @ leaning).std()
    head = torch.zeros_like(model.lm_head.weight)
    head[yes], head[no] = leaning, -leaning
    over = 3 * max((first @ leaning).abs().max(), (behind @ leaning).abs().max())
    states = torch.cat([first, behind])
    targets = torch.cat([torch.full((len(first),), -1.0), torch.full((len(behind),), 1.0)]) * over
    head[end] = torch.linalg.lstsq(states, targets[:, None], driver="gelsd").solution[:, 0]
    model.lm_head.weight = torch.nn.Parameter(head)


def _states(model: Any, tokenizer: Any, pairs: Sequence[str], drawn: Sequence[int]) -> torch.Tensor:
    """For each pair, what the last layer sees behind the tokens that were drawn."""
    states = []
    for text in pairs:
        row = tokenizer(text, return_tensors="pt")
        out = model(**row, decoder_input_ids=torch.tensor([drawn]), output_hidden_states=True)
        states.append(out.decoder_hidden_states[-1][0, -1])
    return torch.stack(states)
