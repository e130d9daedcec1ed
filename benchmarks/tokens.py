"""How the estimate of tokens stands against real tokenizers: it should say too many rather than too few.

    python benchmarks/tokens.py FILE.json ...

Each FILE is the `tokenizer.json` of a model. The first table is article 1 of the Universal Declaration of Human Rights,
estimate over true number; the second is 1,500 passages each of two collections, and 300 prompts of five such passages.
Needs the library `tokenizers`, which comes with `transformers`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from pathlib import Path

import data

from toulmin.data import Passage
from toulmin.prompts.templates import Templates, estimate_tokens
from toulmin.prompts.types import AnswerPrompt

DECLARATION = {
    "en": (
        "All human beings are born free and equal in dignity and rights. They are endowed with reason and"
        " conscience and should act towards one another in a spirit of brotherhood."
    ),
    "de": (
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen"
        " begabt und sollen einander im Geist der Brüderlichkeit begegnen."
    ),
    "fr": (
        "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et"
        " de conscience et doivent agir les uns envers les autres dans un esprit de fraternité."
    ),
    "pl": (
        "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni"
        " rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa."
    ),
    "fi": (
        "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu"
        " järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä."
    ),
    "vi": (
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều"
        " được tạo hoá ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình bằng hữu."
    ),
    "tr": (
        "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve"
        " birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler."
    ),
    "ru": (
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и"
        " совестью и должны поступать в отношении друг друга в духе братства."
    ),
    "el": (
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι"
        " προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα"
        " αδελφοσύνης."
    ),
    "he": (
        "כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם"
        " לנהוג איש ברעהו ברוח של אחווה."
    ),
    "ar": (
        "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا"
        " بروح الإخاء."
    ),
    "hi": (
        "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें"
        " बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।"
    ),
    "th": ("มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ"),
    "zh": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神互相对待。",
    "ja": (
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は"
        "、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。"
    ),
    "ko": (
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천"
        "부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다."
    ),
    "am": ("የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው። የተፈጥሮ ማስተዋልና ሕሊና ስላለው አንዱ ሌላውን በወንድማማችነት መንፈስ መመልከት ይገባዋል።"),
    "ka": (
        "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით. მათ მინიჭებული აქვთ"
        " გონება და სინდისი."
    ),
    "ta": ("மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும், உரிமைகளிலும் சமமானவர்கள்."),
    "my": ("လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ တူညီလွတ်လပ်သော အခွင့်အရေးများဖြင့် လည်းကောင်း၊ မွေးဖွားလာသူများ ဖြစ်သည်။"),
}


def counter(file: Path) -> Callable[[str], int]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def passages(name: str, rng: random.Random) -> list[Passage]:
    rows = list(data.rows(name))
    return [Passage.of(row["text"], row.get("title", "")) for row in rng.sample(rows, 1500)]


def collections() -> dict[str, list[str]]:
    rng, templates = random.Random(1), Templates.default()
    found = {name: passages(name, rng) for name in ("pool_corpus", "retrieval_scifact_corpus")}
    drawn = (tuple(rng.sample(found["pool_corpus"], 5)) for _ in range(300))
    prompts = [templates.render(AnswerPrompt("Who was it, and when?", five)).text for five in drawn]
    return {**{name: [p.text for p in each] for name, each in found.items()}, "prompts": prompts}


def report(texts: list[str], count: Callable[[str], int]) -> str:
    ratios = sorted(estimate_tokens(text) / max(1, count(text)) for text in texts)
    low = sum(ratio < 1 for ratio in ratios)
    at = [ratios[int(share * (len(ratios) - 1))] for share in (0, 0.01, 0.5, 0.99)]
    return "".join(f"{ratio:9.2f}" for ratio in at) + f"{low:9}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    counters = [(file, counter(file)) for file in parser.parse_args().files]
    for n, (file, _) in enumerate(counters, start=1):
        print(f"tokenizer {n}: {file.name}, {file.stat().st_size:,} bytes")
    print("".join(f"{name:>9}" for name in ("language", *range(1, len(counters) + 1))))
    for language, text in DECLARATION.items():
        ratios = (estimate_tokens(text) / count(text) for _, count in counters)
        print(f"{language:>9}" + "".join(f"{ratio:9.2f}" for ratio in ratios))
    heads = ("least", "1 %", "median", "99 %", "too few")
    print(f"{'texts':26}{'tokenizer':>9}" + "".join(f"{head:>9}" for head in heads))
    for name, texts in collections().items():
        for n, (_, count) in enumerate(counters, start=1):
            print(f"{name:26}{n:9}{report(texts, count)}")


if __name__ == "__main__":
    main()
