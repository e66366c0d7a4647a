"""Words that are known by heart: small talk, numbers, and what is too common to mean anything, or to be measured."""

import re

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
_VAGUE = """
    fast, faster, quick, quickly, quicker, slow, soon, early, timely, often, easy, easily, easier, simple, simply,
    convenient, intuitive, intuitively, user friendly, usable, smooth, smoothly, seamless, seamlessly, efficient,
    efficiently, robust, flexible, scalable, performant, responsive, reliable, reliably, secure, securely,
    stable, modern, appropriate, appropriately, adequate, adequately, reasonable, reasonably, sufficient,
    sufficiently, acceptable, good, better, best, nice, nicely, great, high quality, state of the art, real time, as
    soon as possible, as fast as possible, as much as possible, if possible, if needed, if necessary, as
    needed, as appropriate, and so on, etc, tbd, todo, schnell, einfach, zeitnah, zuverlässig,
    benutzerfreundlich, angemessen, ausreichend
"""
_COUNTING = "zero one two three four five six seven eight nine ten eleven twelve"

SMALL_TALK = frozenset(_SMALL_TALK.split())
SMALL_TALK_UNSPACED = frozenset(
    {"はい", "いいえ", "了解", "了解です", "承知しました", "ありがとう", "好的", "谢谢"}
)
TOO_COMMON = frozenset(_TOO_COMMON.split())

_UNMEASURED = sorted((word.strip() for word in _VAGUE.split(",")), key=len, reverse=True)
VAGUE = re.compile(rf"\b(?:{'|'.join('[ -]?'.join(word.split()) for word in _UNMEASURED)})\b", re.IGNORECASE)
"""What everybody agrees to and nobody can check."""

NUMBERS = {word: number for number, word in enumerate(_COUNTING.split())} | {
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "fifty": 50,
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
}
