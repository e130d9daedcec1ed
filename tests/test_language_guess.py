"""Which language a question is in, by its commonest words or its letters."""

from __future__ import annotations

import pytest
from row_tables import table

from toulmin.text.language import guess_language

QUESTIONS = {
    "English": ["What is a virtual package?", "Who is the author of the manual?"],
    "German": ["Was ist ein virtuelles Paket?", "Wo liegen die Protokolldateien?", "Wann wurde die Uhr fertig?"],
    "French": ["Qu'est-ce qu'un paquet virtuel ?", "Où sont les journaux ?", "Quels modes sont possibles ?"],
    "Spanish": ["¿Qué es un paquete virtual?", "¿Dónde están los registros?", "¿Cuáles son los modos?"],
    "Italian": ["Come cancello un ramo sul server? È un ramo di prova.", "Dove sono i registri?", "Quali sono i modi?"],
    "Portuguese": ["O que é um pacote virtual?", "Onde estão os registos?", "Quais são os modos?"],
    "Dutch": ["Wat is een virtueel pakket?", "Waar zijn de logboeken?", "Hoe verwijder ik een tak op de server?"],
    "Swedish": ["Vad är ett virtuellt paket?", "Kan man stänga av kontrollen?", "Hur tar jag bort en gren på servern?"],
    "Greek": ["Τι είναι το εικονικό πακέτο;"],
    "Korean": ["가상 패키지란 무엇입니까?"],
    "Thai": ["แพ็กเกจเสมือนคืออะไร"],
}


@table(("language", "question"), [(language, question) for language, asked in QUESTIONS.items() for question in asked])
def test_a_question_is_in_its_language(language: str, question: str) -> None:
    assert guess_language(question) == language


@pytest.mark.parametrize("question", ["", "1714?", "sqlite wal mode", "git rebase --onto", "la carte menu"])
def test_a_few_words_are_in_no_plain_language(question: str) -> None:
    assert guess_language(question) is None
