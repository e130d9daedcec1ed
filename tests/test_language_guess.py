"""Which language a question is in, and that its capitals are names only where its language has them for names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from row_tables import table

import toulmin
from toulmin.text.language import guess_language
from toulmin.text.names import facts
from toulmin.text.wording import lacks_version, unmentioned

QUESTIONS = {
    "English": ["What is a virtual package?", "Who is the author of the manual?"],
    "German": [
        "Was ist ein virtuelles Paket?",
        "Wo liegen die Protokolldateien?",
        "Wann wurde die Uhr fertig?",
        "Welche Stadt liegt am Fluss?",
    ],
    "French": [
        "Qu'est-ce qu'un paquet virtuel ?",
        "Où sont les journaux ?",
        "Quels modes sont possibles ?",
        "Combien coûte le billet ?",
    ],
    "Spanish": [
        "¿Qué es un paquete virtual?",
        "¿Dónde están los registros?",
        "¿Cuáles son los modos?",
        "¿Cuánto cuesta la entrada?",
    ],
    "Italian": [
        "Come cancello un ramo sul server? È un ramo di prova.",
        "Dove sono i registri?",
        "Quali sono i modi?",
        "Quanto costa il biglietto?",
    ],
    "Portuguese": [
        "O que é um pacote virtual?",
        "Onde estão os registos?",
        "Quais são os modos?",
        "Para que serve o sal?",
    ],
    "Dutch": [
        "Wat is een virtueel pakket?",
        "Waar zijn de logboeken?",
        "Hoe verwijder ik een tak op de server?",
        "Hoeveel kost een kaartje?",
    ],
    "Swedish": ["Vad är ett virtuellt paket?", "Kan man stänga av kontrollen?", "Hur tar jag bort en gren på servern?"],
    "Polish": ["Jak wysoka jest wieża?"],
    "Russian": ["Какова высота башни?"],
    "Chinese": ["这座桥有多长？"],
    "Japanese": ["この橋の長さはどれくらいですか？"],
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


SOURCE = ["Der Turm ist 37 Meter hoch. La torre mide 37 metros. De toren is 37 meter hoog."]


@pytest.mark.parametrize(
    "question",
    [
        "Wie hoch ist der Turm?",
        "Wofür wird das Salz gebraucht?",
        "Nenne den Architekten der Brücke.",
        "Quelle est la hauteur de la tour ?",
        "¿Quién construyó la torre?",
        "Perché chiuse il porto?",
        "Qual é a altura da torre?",
        "Waarvoor wordt zout gebruikt?",
        "Какова высота башни?",
    ],
)
def test_capitals_of_other_languages_are_no_names(question: str) -> None:
    assert unmentioned(question, SOURCE) == ()


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Wer ist Angela Merkel?", "Angela Merkel"),
        ("Was ist SQLite?", "SQLite"),
        ("Qui était Eiffel ?", "Eiffel"),
        ("How tall is Merkel?", "Merkel"),
    ],
)
def test_names_are_names_in_every_language(question: str, name: str) -> None:
    assert unmentioned(question, SOURCE) == (name,)


def test_a_common_word_alone_does_not_mention_a_name() -> None:
    question = "Does it run on the Nintendo Switch?"
    assert unmentioned(question, ["It has a switch."]) == ("Nintendo Switch",)
    assert unmentioned(question, ["It runs on Nintendo's machines."]) == ()


@pytest.mark.parametrize(
    ("question", "is_other"), [("What is new in chrony 4.1?", True), ("Who ran 4.1 miles?", False)]
)
def test_a_version_may_follow_a_name_in_lower_case(question: str, is_other: bool) -> None:
    assert lacks_version(question, "It is new in chrony 4.2.") is is_other


@pytest.mark.parametrize("sentence", ["Wie hoch ist er?", "Quand ferme-t-il ?", "Dove era?", "Das war gut."])
def test_a_first_word_of_other_languages_is_no_fact(sentence: str) -> None:
    assert facts(sentence) == ()


# ---------------------------------------------------------------- answers

TEXTS = {
    "German": "Der Leuchtturm von Warnemünde ist 37 Meter hoch. Er wurde 1898 fertig gebaut.",
    "English": "The lighthouse of Whitby is 37 metres tall. It was finished in 1898.",
    "Chinese": "这座桥长三百米，由李明设计，于一九五七年建成。\n\n河边的灯塔高三十七米。灯塔于一八九八年完工。",
}


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text(TEXTS[request.param], "utf-8")
    return tmp_path / "docs"


@pytest.mark.parametrize(
    ("folder", "question", "asked"),
    [
        ("German", "How tall is the bridge?", "English"),
        ("English", "Wer baute die Brücke?", "German"),
        ("English", "这座桥有多长？", "Chinese"),
        ("Chinese", "How long is the bridge?", "English"),
        ("Chinese", "Wie lang ist die Brücke?", "German"),
    ],
    indirect=["folder"],
)
def test_silence_between_languages_names_both(folder: Path, question: str, asked: str, request) -> None:
    answer = toulmin.ask(question, docs=folder, reader="lexical", judge="lexical")
    written = request.node.callspec.params["folder"]
    note = f"The question seems to be in {asked}, the sources in {written}; ask in {written} to find more."
    assert (answer.claims, note in answer.notes) == ((), True)


@pytest.mark.parametrize("folder", ["Chinese"], indirect=True)
def test_a_chinese_question_finds_its_sentence(folder: Path) -> None:
    answer = toulmin.ask("灯塔有多高？", docs=folder, reader="lexical", judge="lexical")
    assert "河边的灯塔高三十七米" in answer.text


@pytest.mark.parametrize("folder", ["Chinese"], indirect=True)
def test_a_guessed_encoding_is_noted(folder: Path) -> None:
    path = folder / "a.txt"
    path.write_text(TEXTS["Chinese"], "gb18030")
    note = f"{path}: not UTF-8, read as gb18030, a guess"
    assert note in toulmin.ask("灯塔有多高？", docs=folder, reader="lexical", judge="lexical").notes
    assert toulmin.index([folder], into=folder.parent / "index").notes == (note,)


LANGUAGES = Path(__file__).parent.parent / "benchmarks" / "languages"


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("この橋の長さはどれくらいですか？", "312メートル"),
        ("古い橋は誰が設計しましたか？", "マリア・リント"),
        ("灯台の塔の高さはどれくらいですか？", "37メートル"),
        ("博物館の入場券はいくらですか？", "8ユーロ"),
    ],
)
def test_japanese_endings_are_no_part_of_what_is_asked(question: str, fact: str) -> None:
    answer = toulmin.ask(question, docs=LANGUAGES / "ja", reader="lexical", judge="lexical")
    assert fact in answer.text


def test_japanese_pages_without_an_answer_leave_it_open() -> None:
    answer = toulmin.ask("塩はいくらで売られていますか？", docs=LANGUAGES / "ja", reader="lexical", judge="lexical")
    assert answer.claims == ()


@pytest.mark.parametrize("code", sorted(path.name for path in LANGUAGES.iterdir() if path.is_dir()))
def test_each_language_asks_the_same_of_the_same_pages(code: str) -> None:
    rows = [json.loads(line) for line in (LANGUAGES / "questions.jsonl").read_text("utf-8").splitlines()]
    asked = [row for row in rows if row["folder"] == code]
    assert [(row["id"][3:], row["kind"]) for row in asked] == [(row["id"][3:], row["kind"]) for row in rows[:20]]
    for gold in (gold for row in asked for gold in row["gold"]):
        assert gold["sentence"] in (LANGUAGES / code / gold["file"]).read_text("utf-8")


def test_one_english_word_makes_no_question_english() -> None:
    assert guess_language("Wofür steht das Wort which?") == "German"
