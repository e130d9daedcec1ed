"""The estimate of tokens: rather too many than too few, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toulmin.prompts.templates import estimate_tokens

# The most tokens that any of four tokenizers takes for the text: byte-level BPE of 65,000 (Anthropic's published one)
# and of 131,000 (Mistral's Tekken), SentencePiece of 32,000 (Mistral 7B), WordPiece (MiniLM).
COUNTED = [
    (
        "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience"
        " and should act towards one another in a spirit of brotherhood.",
        34,
    ),
    (
        "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i"
        " sumieniem i powinni postępować wobec innych w duchu braterstwa.",
        79,
    ),
    (
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны"
        " поступать в отношении друг друга в духе братства.",
        135,
    ),
    ("人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神互相对待。", 50),
    (
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을"
        " 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
        123,
    ),
    ("มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ", 240),
    ("የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው። የተፈጥሮ ማስተዋልና ሕሊና ስላለው አንዱ ሌላውን በወንድማማችነት መንፈስ መመልከት ይገባዋል።", 267),
    (
        "1871 2,345,678.90 3.14159265358979 2024-11-20T18:06:39Z +49 30 1234567 0x7fffdeadbeef 192.168.0.1 12/31/1999",
        101,
    ),
    (
        "def f(x: int) -> dict[str, list[int]]:\n    return {str(i): [i**2 for i in range(x)] for i in range(10)}\n\n\n"
        "if __name__ == '__main__':\n    print(f(3), end='\\n')",
        82,
    ),
]


@pytest.mark.parametrize(("text", "counted"), COUNTED, ids=[text[:12] for text, _ in COUNTED])
def test_estimate_lies_between_one_and_three_times_tokenizers(text: str, counted: int):
    assert counted <= estimate_tokens(text) < 3 * counted


@given(st.text(max_size=200), st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_a_text_that_goes_on_in_another_line_takes_no_fewer_tokens(first: str, second: str):
    assert estimate_tokens(f"{first}\n{second}") >= max(estimate_tokens(first), estimate_tokens(second))
