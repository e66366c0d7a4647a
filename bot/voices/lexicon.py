"""Words that are known by heart: small talk, numbers, and what is too common to mean anything."""

_SMALL_TALK = """
    by point deal lol
    ok okay okey k kk yes yep yeah yup ya aye no nope nah sure fine good great cool nice perfect awesome super
    thanks thank thx ty you cheers please hi hello hey morning afternoon evening bye goodbye all everyone everybody
    team folks guys there agreed agree ack noted lgtm sgtm same here done exit finish wrap up right correct exactly
    true indeed absolutely definitely hm hmm hmmm mhm uh um well so and then now it's that's sounds looks makes
    sense got it works for me to from with that this i we am are is the a too let's do go ahead next continue back
    stop wait sorry oops lol haha ha ja nein danke genau gut passt alles klar stimmt hallo moin servus oui non merci
    si sí gracias bien vale claro
"""
_TOO_COMMON = """
    about after again always another anybody because before being between could every everybody first from have
    hear here into itself just know like make many more most much must need never only other people really should
    some somebody something still such take tell than that their them then there these they thing think this those
    time today together until want wants were what when where which while will with without would your able and
    the for all one they want user users
"""
_COUNTING = "zero one two three four five six seven eight nine ten eleven twelve"

SMALL_TALK = frozenset(_SMALL_TALK.split())
SMALL_TALK_UNSPACED = frozenset(
    {"はい", "いいえ", "了解", "了解です", "承知しました", "ありがとう", "好的", "谢谢"}
)
TOO_COMMON = frozenset(_TOO_COMMON.split())

NUMBERS = {word: number for number, word in enumerate(_COUNTING.split())} | {
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "fifty": 50,
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
}
