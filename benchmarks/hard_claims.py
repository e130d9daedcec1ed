"""Claims written by hand, meant to be hard, over the documents that ship with the package.

    python benchmarks/hard_claims.py [--show] [--judge SPEC]

The false ones swap roles, mix the halves of a sentence, move a number or name to another subject, or say the opposite
in other words; the true ones say the same otherwise. Each goes through `check`, as a draft without citations does.
Shown is how many get each verdict (`--show`: which ones are wrong). There is no target: this is where a judge ends.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from toulmin import aio
from toulmin.data import Answer
from toulmin.demo import FOLDER
from toulmin.driver.kit import Judge
from toulmin.judges.objections import RANKS

FALSE = """
Larcum Kendall's copy of H4, called K1, was finished in 1769 and cost about 450 guineas a year.
James Cook copied the watch for Larcum Kendall.
Captain Cook never came to trust K1.
Mayhew Folger gave K2 to William Bligh in 1808.
K2 was on board the Beagle in 1789.
K1 was lent to William Bligh and was on board the Bounty in 1789.
The sea watch H4 lost 5.1 minutes on the way to Jamaica.
The sea watch H4 was wrong by about 39 seconds on the voyage to Jamaica.
H4 weighs 1.45 kilograms and is about 34 centimetres wide.
The first sea clock H1 weighed about 1.45 kilograms.
Harrison's second sea clock, H2, was smaller and lighter.
H2 was tested at sea.
H3 ran very well.
The balance of H4 beats five times a minute.
William Harrison was the father of John Harrison.
John Harrison sailed to Jamaica on HMS Deptford.
The Board of Longitude was convinced after the voyage to Jamaica.
The Board paid the whole reward at once.
Parliament granted Harrison 20,000 pounds in 1773.
King George III opposed Harrison.
France and Brazil voted against the meridian of Greenwich.
Twenty-five countries voted for the meridian of Greenwich.
San Domingo voted for it.
Flamsteed's catalogue was published before his death.
King George III founded the Royal Observatory at Greenwich in 1675.
A method true to within one degree would earn 20,000 pounds.
A method true to within half a degree would earn 10,000 pounds.
The Board of Longitude was founded in 1828.
Tobias Mayer paid the Board of Longitude 3,000 pounds.
John Hadley in Pennsylvania invented a reflecting instrument around 1731.
Thomas Godfrey in England invented a reflecting instrument around 1731.
Lunar distances cost far more than a chronometer.
Ole Rømer noticed that the eclipses came early when the Earth was far from Jupiter.
Ole Rømer discovered the moons of Jupiter in 1676.
Galileo offered his method to Spain, and it was used at sea.
Cassini was an English astronomer.
The corrected map showed the western coast farther to the west.
The British fleet sailed to Gibraltar in the autumn of 1707.
More than 2,000 sailors drowned in the Scilly disaster.
Four ships were saved within a few hours.
Shovell survived the disaster.
An unknown longitude was the only cause.
John Arnold's spring detent escapement became the standard.
Prices rose from less than a hundred to hundreds of pounds.
HMS Beagle carried 22 clocks made by Harrison.
The Eiffel Tower stopped sending time signals in 1910.
Speed was measured with the compass.
Dead reckoning is very accurate on long voyages.
Latitude was the hard half.
The Earth turns through 360 degrees in one hour.
The Earth turns through one degree in fifteen minutes.
Pirates sailed along a parallel to avoid merchant ships.
The Nautical Almanac was computed for Paris.
Even with the almanac a navigator needed clear skies and about half a day of careful sums.
Charles Darwin left England with 22 chronometers in 1831 to measure France.
Harrison was born in Barrow upon Humber and grew up in Foulby.
Harrison kept a pendulum on a rolling ship.
John Harrison died in London on 24 March 1776 at the age of 20.
The mutineers gave Cook the watch on Pitcairn Island.
Kendall made three simpler and cheaper watches, K2 and K3.
""".strip().splitlines()

TRUE = """
Larcum Kendall copied H4.
K1 was completed in 1769.
The sea watch H4 was finished in 1759.
H4 weighs 1.45 kg.
Harrison's first sea clock was finished in 1735.
H2 was never tested at sea.
The Board of Longitude was dissolved in 1828.
The Longitude Act was passed by Parliament in July 1714.
Parliament granted Harrison a further 8,750 pounds in 1773.
John Harrison died on March 24, 1776 in London.
Nevil Maskelyne became Astronomer Royal in 1765.
The Nautical Almanac first appeared for the year 1767.
Ole Rømer concluded that light needs time to travel.
The ship HMS Beagle carried 22 chronometers.
22 countries voted for Greenwich.
France and Brazil abstained.
Charles II founded the Royal Observatory in 1675.
The knot is still used to give the speed of a ship.
Shovell drowned in the disaster.
The Earth turns through 15 degrees in an hour.
The Eiffel Tower began to send time signals in 1910.
Two of H3's inventions are still used everywhere.
""".strip().splitlines()


def check_each(claims: Sequence[str], docs: Path, judge: str | Judge) -> list[Answer]:
    """What `check` says of each claim by itself, over one opening of the documents.

    Vectors have the time that they take, so that a busy machine finds the same passages.
    """

    async def check() -> list[Answer]:
        async with aio.session(docs=docs, judge=judge, rerank_seconds=600.0) as session:
            return [await session.check(claim) for claim in claims]

    return asyncio.run(check())


def label_of(answer: Answer) -> str:
    """The lowest label of an answer's sentences; "unjudged" where none was judged."""
    labels = [claim.support.label for claim in answer.claims if claim.support is not None]
    return min(labels, key=RANKS.index, default="unjudged")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print the claims whose verdict is wrong")
    parser.add_argument("--judge", default="lexical", metavar="SPEC", help="as `toulmin --judge` names it")
    asked = parser.parse_args()
    for truth, claims in ((False, FALSE), (True, TRUE)):
        labels = [label_of(answer) for answer in check_each(claims, FOLDER, asked.judge)]
        for text, label in zip(claims, labels, strict=True):
            if asked.show and (label == "supported") != truth:
                print(f"  {label}  {text}")
        told = ", ".join(f"{label} {n}" for label, n in Counter(labels).most_common())
        print(f"{'true' if truth else 'false':<6}{len(claims):>4}   {told}")


if __name__ == "__main__":
    main()
