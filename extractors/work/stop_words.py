"""Words that tell nothing about what a step is, and those that only say that something is to be done."""

STOP_WORDS = frozenset(
    "the and for with that this from into onto over under than then when where which while who whom "
    "whose what "
    "are was were been being has have had having does did doing not but can could will would shall "
    "should may "
    "might must you your our ours their them they its his her she him any all some each every both "
    "few more most "
    "other such only own same too very just also there here now about after before between through "
    "during above "
    "below out off again once still yet per via let lets want like need needs please able make sure one two "
    "currently already instead rather well etc use using used".split()
)
# Stems, as likeness._stem gives them.
ACTIONS = frozenset(
    "add chang updat fix creat remov delet writ run check verif test implement review look see get "
    "set do don "
    "finish complet continu start handl work tak show mov put ensur address mak giv commit push build".split()
)
