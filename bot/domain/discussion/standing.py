"""Words of will and consent: what a claim says of where somebody stands, and whether somebody said where they stand."""

import re

_STANDS = (
    r"wants?|wanted|prefers?|preferred|favou?rs?|favou?red|supports?|supported|opposes?|opposed|likes?|liked|insists?|insisted"
    r"|accepts?|accepted|agrees?|agreed|approves?|approved|concedes?|conceded|withdraws?|withdrew|rejects?|rejected"
    r"|demands?|demanded|hopes?|hoped|promises?|promised|believes?|believed|is\s+(?:for|against|convinced|happy|fine)"
    r"|möchte|lehnt|unterstützt|akzeptiert"
)
_TAKES_A_STAND = re.compile(
    rf"(?<!\w)(?:{_STANDS}|need\w*|should|must|would|let'?s|please|yes|no|ok|okay|fine|sure|right|decisions?|decided?"
    r"|objections?|object|against|for it|convinced|i'm|i am|i think|i'd|we'll|i'll|wish\w*|rather|better"
    r"|ja|nein|bitte|gut|soll\w*)(?!\w)",
    re.IGNORECASE,
)


def stand_of(name: str, claim: str) -> str:
    """What *claim* says of where *name* stands ("wants", "accepts"); empty when it says nothing of the kind."""
    said = re.search(
        rf"(?<!\w){re.escape(name)}\s+(?:\w+\s+){{0,2}}?(?P<stand>{_STANDS})(?!\w)",
        claim.replace("’", "'"),
        re.IGNORECASE,
    )
    return said["stand"] if said else ""


def takes_a_stand(text: str) -> bool:
    """Whether somebody who says *text* says where they stand, in any words of will or consent."""
    return _TAKES_A_STAND.search(text.replace("’", "'")) is not None
