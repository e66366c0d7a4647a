"""What is stored of a roundtable. What can be asked of it, and what follows, is in `roundtable`."""

from collections.abc import Mapping

from bot.domain.agenda import Depth, QuickScan
from bot.domain.effects import Commit, Effect, Post, Rewrite, Sign
from bot.domain.elaboration import Elaboration
from bot.domain.inputs import Undecided
from bot.domain.manners import Manners
from bot.domain.menu import Menu, Used
from bot.domain.meta import DEFAULT_MAX_TURNS, Record
from bot.domain.notes import Answer, Asked, Overtaken, Passed, Stalled
from bot.domain.outcomes import CodeSurvey
from bot.domain.place import Place
from bot.domain.planning.workshop import Workshop
from bot.domain.purse import Purse
from bot.domain.stage import Stage
from bot.domain.transcript import Line, Part
from bot.domain.value import Stored
from bot.domain.witness import Witness


class RoundtableFields(Stored):
    """
    `incarnation` distinguishes this roundtable from an earlier one on the same item (the store was lost); with
    `sequence` it makes ids that were never used before. `now` is the time of the newest input. `heading_for` is the
    stage that follows CLOSING or PAUSED. `drafted` are the answers as a voice was last given them to write down,
    `lines` the transcript's since the last commit, `unsaved` the commits that failed, `unsent` what Slack did not take
    while the thread was closed to us. `last_heard` is the Slack ts of
    the newest message that git had when the item was taken up from there. `workshop` is kept when people leave it, and
    `planned_from` is the stage to go back to then; None is wherever the analysis stands. `unaided`: a model failed, and
    until somebody wants it back the personas speak without one.
    `working_at` is the message that says that we are at work, `working_by` how it does, and `signs_refused` is what
    Slack would not show here. `held` is the last line that we know to be in git, `witness` the transcript as it was
    committed last.
    `question` is the newest question or menu, `asked` the newest posts that opened a step or a discussion, and
    `undecided` are words that came while nobody knew whether their author could see the question.
    """

    shape: int = 1
    version: int = 0
    incarnation: str

    slug: str
    title: str
    source: str = "manual"
    source_id: str | None = None
    place: Place
    permalink: str = ""
    started_by: str = ""
    people: Mapping[str, str] = {}

    stage: Stage = Stage.OPENING
    heading_for: Stage | None = None
    stalled: Stalled | None = None
    unaided: bool = False
    phase_key: str = ""
    step_id: str = ""
    depth: Depth | None = None
    steps_completed: tuple[str, ...] = ()
    phases_completed: tuple[str, ...] = ()
    depth_overrides: Mapping[str, str] = {}
    elaborations: tuple[Record, ...] = ()
    max_turns: int = DEFAULT_MAX_TURNS
    manners: Manners = Manners()
    purse: Purse = Purse()
    scan: QuickScan = QuickScan()
    passed: tuple[Passed, ...] = ()
    artifacts: tuple[str, ...] = ()

    answers: tuple[Answer, ...] = ()
    drafted: tuple[Answer, ...] = ()
    last_heard: str = ""
    survey: CodeSurvey | None = None
    acknowledged_at: str = ""
    overtaken: tuple[Overtaken, ...] = ()
    working_at: str = ""
    working_by: Sign = Sign.REACTION
    signs_refused: tuple[Sign, ...] = ()
    elaboration: Elaboration | None = None
    workshop: Workshop | None = None
    planned_from: Stage | None = None
    menu: Menu | None = None
    question: Asked | None = None
    asked: tuple[Asked, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    used: tuple[Used, ...] = ()

    now: str = ""
    round: int = 0
    sequence: int = 0
    part: Part = Part.DRAFT
    lines: tuple[Line, ...] = ()
    held: str = ""
    witness: Witness = Witness()
    unsaved: tuple[Commit, ...] = ()
    unsent: tuple[Post | Rewrite, ...] = ()
    outbox: tuple[Effect, ...] = ()
    seen: tuple[str, ...] = ()
