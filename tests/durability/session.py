"""
People and processes of one simulated meeting: whoever dies is followed by another, what was not acknowledged comes
again, and a button that did nothing is pressed again.
"""

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from bot.domain.catalog.agenda import Playbook
from bot.domain.item.item import item_from
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.effects import Effect, React
from bot.domain.roundtable.inputs import Amend, Command, Export, Plan, Press, Retract, Say, Start
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Place
from bot.engine.performers import Performers
from bot.engine.roundtables import Cancellation, Perform, Reactions, Roundtables
from bot.errors import Conflict, Unavailable, UserError
from tests.all_steps import all_steps, shipped_playbook
from tests.durability.fates import Died, Fate, Kind
from tests.durability.sim_voices import SimVoices
from tests.durability.world import (
    META,
    SimChat,
    SimRecords,
    SimStore,
    SimWake,
    SimWorkspace,
    World,
    person,
)
from tests.sights import MEMBERS

Event = Say | Amend | Retract
T = TypeVar("T")
TITLE, SLUG = "Offline sync", "offline-sync"
HERE = Place(team="T1", channel="C1")
TIMES = 12
"""How often anything is tried before it counts as stuck."""


class Stuck(Exception):
    """Something did not come, however often people tried."""


class NoCancellation(Cancellation):
    """Waits for all work, and needs no event loop."""

    def begin(self, slug: str, effects: Iterable[Effect], perform: Perform) -> None:
        """One after the other, as another process would after a crash."""


class NoReactions(Reactions):
    """Each in its turn, as another process would after a crash."""

    def begin(self, rt: Roundtable, show: Callable[[React], Coroutine[Any, Any, None]]) -> None:
        """Nothing runs beside anything in the simulator."""


def playbook() -> Playbook:
    return shipped_playbook(steps=all_steps())


def drive(work: Coroutine[Any, Any, T]) -> T:
    """Runs *work* to its end; nothing in the simulator waits."""
    try:
        work.send(None)
    except StopIteration as ended:
        found: T = ended.value
        return found
    raise AssertionError("something waited")


class Session:
    def __init__(self, world: World) -> None:
        self.world = world
        self.deaths = 0
        self.flushed = False
        self._woken = False
        world.fates.elsewhere = {
            Fate.SPOKEN: self._spoken_elsewhere,
            Fate.RIVAL: self._paid_elsewhere,
            Fate.FLUSHED: self._flush,
        }
        self._engine = self._process()

    @property
    def rt(self) -> Roundtable | None:
        return self.world.store.get(SLUG)

    # --- what people do -------------------------------------------------------------------------------------------

    def act(self, deed: str, what: str | Action) -> None:
        match deed, what:
            case "start", _:
                self.start()
            case "say", str(text):
                self.say(text)
            case "amend", str(text):
                self.amend(text)
            case "retract", _:
                self.retract()
            case "pause", _:
                self.pause()
            case "plan", _:
                self.plan()
            case "export", _:
                self.export()
            case "press", str() as action:
                self.press(action)

    def start(self) -> None:
        for _ in range(TIMES):
            if self.rt and self.rt.place.thread and not self.rt.outbox:
                return
            if self.rt is None:
                self._commanded(self._begun())
            self.settle()
        raise Stuck("the roundtable is not opened")

    def say(self, text: str) -> None:
        """Slack delivers it until it is acknowledged, and then, for good measure, once more."""
        self._told(self._said(text))

    def amend(self, text: str) -> None:
        """The newest message of a person's."""
        ts = self.world.change(text)
        key, at = f"C1.{ts}.edited", self.world.now()
        self._told(Amend(key=key, at=at, person=person("grace"), text=text, ts=ts))

    def retract(self) -> None:
        ts = self.world.change(None)
        self._told(Retract(key=f"C1.{ts}.deleted", at=self.world.now(), person=person("grace"), ts=ts))

    def pause(self) -> None:
        """Another app writes something, so that some minutes pass in which no person does."""
        self.world.post(Message(text="The build is green."))
        self.settle()

    def press(self, action: str) -> None:
        """By two people at once, and again while nothing comes of it."""
        for _ in range(TIMES):
            menu = self.menu()
            if menu is None or not _offers(menu[1], action):
                return
            for who in ("ada", "grace"):
                self._commanded(self._pressed(action, menu, who))
            self.settle()
            if self.menu() != menu:
                return
        raise Stuck(f"{action} leads to nothing")

    def plan(self) -> None:
        """By a command, too: until the step of the plan is open."""
        for _ in range(TIMES):
            if self.rt and self.rt.step_id == playbook().agenda.plan.step_id and self.menu():
                return
            self._commanded(self._wants_plan())
            self.settle()
        raise Stuck("the plan is not opened")

    def export(self) -> None:
        """By a command: if it got lost on the way, it is given again."""
        for _ in range(TIMES):
            if any(post.files for post in self.world.thread):
                return
            self._commanded(self._wants_record())
            self.settle()
        raise Stuck("the record does not come")

    def end(self) -> None:
        """On to a finished step, from wherever this is: with it, everything said is saved."""
        answered = False
        for _ in range(TIMES):
            menu = self.menu()
            if menu is None:
                raise Stuck("nothing is owed, and people are offered nothing")
            if answered and _offers(menu[1], Action.CONTINUE):
                return
            if _offers(menu[1], Action.FINISH_STEP):
                self.say("That is all")
                answered = True
            way_on = next((one for one in WAYS_ON if _offers(menu[1], one)), None)
            if way_on:
                self.press(way_on)
            self.settle()
        raise Stuck("the last step is not finished")

    def menu(self) -> tuple[str, Message] | None:
        """The newest message with buttons, as people see it."""
        shown = (post for post in reversed(self.world.thread) if post.message.choices)
        return next(((post.ts, post.message) for post in shown), None)

    # --- what processes do ----------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Until nothing is owed; a process that dies of it is followed by another."""
        for _ in range(TIMES):
            try:
                drive(self._engine.pay(SLUG))
            except Died:
                self._restart()
            except (Unavailable, Conflict, UserError):
                continue
            else:
                if self._lost():
                    self._bring_back()
                    continue
                if not self._woken:
                    return
                self._woken = False
        raise Stuck(f"still owed: {[one.kind for one in self.rt.outbox] if self.rt else 'everything'}")

    def _told(self, said: Event) -> None:
        for _ in range(2):
            self._delivered(said)
            self.settle()

    def _delivered(self, said: Event) -> None:
        for _ in range(TIMES):
            if drive(SimStore(self.world).at(self._thread())) is None:
                return
            try:
                drive(self._engine.handle(SLUG, said))
            except Died:
                self._restart()
            except (Unavailable, Conflict):
                continue
            except UserError:
                return
            else:
                return
        raise Stuck("what was said is not acknowledged")

    def _commanded(self, work: Coroutine[Any, Any, Roundtable]) -> None:
        """Nobody delivers it again."""
        try:
            drive(work)
        except Died:
            self._restart()
        except (Unavailable, Conflict, UserError):
            pass

    def _process(self) -> Roundtables:
        world, book = self.world, playbook()
        chat, voices, files = SimChat(world), SimVoices(world), SimWorkspace(world)
        performers = Performers(chat, voices, files, book, world.now, SimRecords(world), MEMBERS)
        engine = Roundtables(
            store=SimStore(world),
            wake=SimWake(world),
            performers=performers,
            playbook=book,
            clock=world.now,
            cancellation=NoCancellation(),
            reactions=NoReactions(),
        )
        engine._pause = self._paused  # type: ignore[assignment,method-assign]
        engine._wake_later = self._waited  # type: ignore[assignment,method-assign]
        return engine

    def _waited(self, _slug: str, seconds: float) -> None:
        """An edit of a card had to wait, or a timer runs: the time passes, and it is looked at again."""
        self.world.waited += seconds
        self._woken = True

    async def _paused(self, _seconds: float) -> None:
        """Time passes by itself; whoever waits may die of it, or find that others were busy meanwhile."""
        self.world.fates.io(Kind.PAUSE, lambda: None)

    def _restart(self) -> None:
        self.deaths += 1
        self._engine = self._process()

    # --- what others do, and the world ----------------------------------------------------------------------------

    def _spoken_elsewhere(self) -> None:
        if not self.world.thread:
            return
        said = self._said(f"I say this to another process ({len(self.world.thread)})")
        if drive(SimStore(self.world).at(self._thread())):
            drive(self._process().handle(SLUG, said))

    def _paid_elsewhere(self) -> None:
        drive(self._process().pay(SLUG))

    def _flush(self) -> None:
        self.flushed = True
        self.world.store.clear()

    def _lost(self) -> bool:
        return self.flushed and self.rt is None

    def _bring_back(self) -> None:
        """Somebody resumes what the folder knows; what it does not know is begun again."""
        if META in self.world.files:
            place = HERE.but(thread=self.world.thread[0].ts)
            self._commanded(self._engine.take_up(self._starting(place), thread_known=True))
        else:
            self.world.excused |= set(self.world.said)
            self._commanded(self._begun())

    # --- inputs ---------------------------------------------------------------------------------------------------

    def _begun(self) -> Coroutine[Any, Any, Roundtable]:
        return self._engine.start(self._starting(HERE))

    def _starting(self, place: Place) -> Start:
        world = self.world
        world.commands += 1
        key = f"command.{world.commands}"
        return Start(key=key, at=world.now(), item=item_from(TITLE), place=place, person=person("ada"))

    def _said(self, text: str) -> Say:
        ts = self.world.post(Message(text=text), person="grace")
        self.world.said.append(ts)
        return Say(key=f"C1.{ts}", at=self.world.now(), person=person("grace"), text=text, ts=ts)

    def _pressed(self, action: str, menu: tuple[str, Message], who: str) -> Coroutine[Any, Any, Roundtable]:
        world = self.world
        press: Command = Press(
            key=f"press.{menu[0]}.{action}.{who}", at=world.now(), person=person(who),
            action=action, token=menu[1].token, ts=menu[0],
        )  # fmt: skip
        return self._engine.handle(SLUG, press)

    def _wants_record(self) -> Coroutine[Any, Any, Roundtable]:
        key = f"command.{len(self.world.thread)}"
        return self._engine.handle(SLUG, Export(key=key, at=self.world.now(), person=person("ada")))

    def _wants_plan(self) -> Coroutine[Any, Any, Roundtable]:
        world = self.world
        world.commands += 1
        key = f"command.plan.{world.commands}"
        plan = Plan(key=key, at=world.now(), person=person("ada"), place=self._thread())
        return self._engine.handle(SLUG, plan)

    def _thread(self) -> Place:
        roots = [post.ts for post in self.world.thread if post.key and not post.message.speaker]
        return HERE.but(thread=self.rt.place.thread if self.rt and self.rt.place.thread else roots[0])


WAYS_ON = (
    Action.RETRY,
    Action.RESUME,
    Action.FINISH_STEP,
    Action.END_ELABORATION,
    Action.CONTINUE,
)


def _offers(message: Message, action: str) -> bool:
    return any(choice.action == action for choice in message.offered)
