"""Negators, and words that exclude each other."""

from __future__ import annotations

import re
from functools import lru_cache

from toulmin.text.language import stem

NEGATORS = frozenset("not no never without cannot neither nor none nobody nothing nowhere".split())
# "failed to win" means "did not win".
NEGATING_VERBS = frozenset("fail failed fails failing unable".split())
# After a negator these cancel the negation or weaken it.
NOT_DENYING = frozenset(
    "only just merely simply necessarily always exactly entirely until less fewer doubt later".split()
)

_OPPOSED = """
increase increased rise rose risen grow grew grown growth gain gained up upward upwards raise raised elevate
  elevated elevation boost enhance enhanced enhancement promote promotion upregulate upregulated upregulation
  expand expanded heighten
  | decrease decreased fall fell fallen decline declined drop dropped shrink shrank down downward reduce reduced
  reduction lower lowered diminish diminished suppress suppressed suppression inhibit inhibited inhibition attenuate
  attenuated impair impaired
  downregulate downregulated downregulation lessen contract
activate activated activation stimulate stimulation induce induction enable
  | deactivate inactivate inactivation inhibit inhibition suppress suppression block blockade prevent prevention disable
accelerate accelerated hasten | slow slowed delay delayed decelerate
improve improved improvement better | worsen worsened worse impair impaired deteriorate
encourage encouraged favour | discourage discouraged hinder
resistant resistance immune | susceptible susceptibility vulnerable sensitive
natural | artificial
more greater larger bigger higher most greatest largest biggest highest
  | less fewer smaller lower least fewest smallest lowest
high tall big large | low short small little
gain gained gaining | lose lost loses losing
easy easily easier | hard harder difficult
safe safely | unsafe dangerous
save saved saves rescue rescued | lose lost loses kill killed destroy destroyed
found founded establish established | dissolve dissolved abolish abolished
survive survived survivor | die died drown drowned perish perished
support supported | oppose opposed
before prior preceding earlier | after following later subsequent
first earliest initial | last latest final
won win wins winning victory defeated beat | lost lose loses losing loss
north northern | south southern
east eastern | west western
northeast northeastern | southwest southwestern
northwest northwestern | southeast southeastern
left | right
above over | below under
inside within internal indoor | outside external outdoor
begin began begins begun start started starts opened opening
  | end ended ends finish finished stopped ceased closed closing
early | late
old older oldest | new newer newest young younger youngest
fast faster fastest quick | slow slower slowest
long longer longest | short shorter shortest
hot warm hotter warmer | cold cool colder cooler
male man men boy husband father son brother king actor he his
  | female woman women girl wife mother daughter sister queen actress she her
alive living born | dead died
same similar | different
success successful succeeded | failure unsuccessful failed
accept accepted accepts approved allowed permitted legal
  | reject rejected rejects refused denied banned prohibited illegal
support supported supports favour favor | oppose opposed opposes
positive positively | negative negatively
true | false
public | private
major majority | minor minority
maximum | minimum
buy bought purchased | sold sell
join joined enter entered arrived | left leave quit departed
better best improved | worse worst worsened
strong stronger | weak weaker
many | few
all every always | none never
with | without
rich | poor
open | closed
import imported | export exported
hero protagonist | villain antagonist
winner champion | loser
top upper | bottom lower
ancient | modern
day | night
summer | winter
spring | autumn
active | inactive
common | rare
present | absent
guilty convicted | innocent acquitted
possible | impossible
able | unable
known | unknown
likely | unlikely
"""


@lru_cache(maxsize=1)
def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for row in re.sub(r"\n  +", " ", _OPPOSED).strip().splitlines():
        sides = [[stem(word) for word in side.split()] for side in row.split("|")]
        for side, other in (sides, sides[::-1]):
            for word in side:
                table.setdefault(word, set()).update(other)
    return {word: frozenset(others - {word}) for word, others in table.items()}


def opposites(term: str) -> frozenset[str]:
    """The terms that exclude this one when one replaces the other; usually none."""
    return _opposites().get(term, frozenset())


def is_negator(word: str) -> bool:
    """Whether a lower-case word negates what follows ("not", "doesn't", "without")."""
    return word in NEGATORS or word in NEGATING_VERBS or word.endswith(("n't", "n’t"))
