"""Who a person is, as Slack says it: with what they want to do, nobody waits for it for long."""

import pytest

from bot.domain.values.places import Belonging, Person
from bot.engine import access
from bot.engine.ports import Profile
from bot.errors import EffectError

ADA = Person(id="U1")


class Answering:
    """Refuses so many times, and then answers."""

    def __init__(self, refusals: int, *, again: bool = True) -> None:
        self.asked, self._refusals, self._again = 0, refusals, again

    async def profile(self, person: str) -> Profile:
        self.asked += 1
        if self.asked <= self._refusals:
            raise EffectError("not now", again=self._again, after_seconds=0.001)
        return Profile(person, Belonging.MEMBER)


@pytest.mark.parametrize(
    ("chat", "belongs", "asked"),
    [
        (Answering(0), Belonging.MEMBER, 1),
        (Answering(2), Belonging.MEMBER, 3),
        (Answering(9), Belonging.UNVERIFIED, access.ATTEMPTS),
        (Answering(1, again=False), Belonging.UNVERIFIED, 1),
    ],
)
async def test_slack_is_asked_again_until_it_says_who_a_person_is(
    chat: Answering, belongs: Belonging, asked: int
) -> None:
    """Without an answer the person may do no more than a guest."""
    assert await access.belonging(chat, ADA, seconds=60) is belongs
    assert chat.asked == asked


async def test_what_is_known_is_not_asked() -> None:
    """Slack says with some events who the person is."""
    chat = Answering(0)

    assert await access.belonging(chat, ADA.but(belongs=Belonging.GUEST), seconds=60) is Belonging.GUEST
    assert chat.asked == 0
