"""People who are forgotten one after the other, in any order: the record holds each time."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.cli import replay
from bot.cli.forget import names_of
from bot.domain.privacy.redaction import MARK, Redactor
from bot.domain.transcript.forgetting import REMOVED, Forgetting, ForgottenFiles, TypedNames, first_name
from bot.domain.transcript.people import Names
from bot.domain.transcript.seal import foreign_ids, read_chain
from bot.record.reading import replay as replayed
from bot.record.rewritten import Rewriting
from bot.record.verify import RecordedItem
from bot.storage.git.erasing import Forgetter, Found, Scrubber
from tests.domain.books import thinking
from tests.domain.table import Table, shipped
from tests.record.kept import ITEMS, copied, hold_an_evening
from tests.sealing import SEAL, TRUSTED
from tests.storage.checkout import Git

PLAYBOOK = shipped()
PEOPLE = ("ada", "grace", "linus")
TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3
SAID = (
    "Edits of Ada are kept on the device.",
    "decision: a queue keeps the edits; because: the network is slow",
    "requirement: Clerks see both edits of a conflict",
    "question: Who signs for Grace? owner: Grace",
    "As Linus said: a queue keeps the edits",
    f"For now we use {TOKEN} in the tests.",
    "Field workers lose their edits.",
    "*Photos* of `meters`, and\n> their sizes,\ntoo.",
)


def at(number: int) -> str:
    return f"2026-11-28T10:{number:02}:00.000Z"


@dataclass(frozen=True)
class Evening:
    """On which that was *said*; two on which the same was said are equal."""

    said: tuple[tuple[str, str], ...]

    def __call__(self) -> Table:
        table = Table(thinking(PLAYBOOK)).start()
        for who, text in self.said:
            table.say(text, who=who)
        return hold_an_evening(table)


class Erasing:
    """The record of an evening in *root*, and what is done to it."""

    def __init__(self, root: Path, said: list[tuple[str, str]]) -> None:
        self.root = root
        self.item: RecordedItem = copied(Evening(tuple(said)), root)
        self.words = {who: [text for one, text in said if one == who] for who in PEOPLE}
        self.number = 0

    def forget(
        self,
        person: str,
        *,
        words: bool,
        typed: bool,
        names: tuple[str, ...] = (),
        others: frozenset[str] = frozenset(),
    ) -> None:
        git = Forgetter(self.root, items_dir=ITEMS, seal=SEAL)
        known, self.number = git.known_people(), self.number + 1
        if not names and person not in known.forgotten:
            names = (known.names.get(person, ""),)
        whom = Forgetting(person, names, "2026-11-28", words=words, typed=typed, others=others)

        def rewrite(slug: str, found: Found, before: Names, after: Names) -> ForgottenFiles:
            rewriting = Rewriting(
                slug, found, whom, before=before, after=after, playbook=PLAYBOOK, sealer=SEAL.lines
            )
            return rewriting.run(now=at(self.number))

        git.person(whom, rewrite, now=at(self.number))

    def scrub(self) -> None:
        self.number += 1
        scrubber = Scrubber(self.root, items_dir=ITEMS, redact=Redactor(), seal=SEAL)
        scrubber.scrub(self.item.slug, now=at(self.number))

    def differences(self) -> list[str]:
        return [str(one) for one in replay.verified(self.item, TRUSTED, PLAYBOOK)]

    def text(self) -> str:
        files = (one for one in (self.root / "docs").rglob("*") if one.is_file())
        return "\n".join(one.read_text() for one in files)


@pytest.fixture
def evening(tmp_path: Path) -> Erasing:
    return Erasing(tmp_path, [("grace", SAID[1]), ("grace", SAID[7]), ("linus", SAID[4]), ("ada", SAID[0])])


def rows(found: Erasing) -> Iterator[dict[str, object]]:
    return (json.loads(row) for row in found.item.transcript.read_text().splitlines())


def test_who_spoke_when_stays(evening: Erasing) -> None:
    """A line keeps its time, its person and its seal; no step, discussion or entry is lost."""
    before, old = replayed(evening.item.read_transcript()), list(rows(evening))
    evening.forget("grace", words=True, typed=False)
    after, *new = replayed(evening.item.read_transcript()), *rows(evening)

    assert evening.differences() == []
    assert (after.progress.steps_completed, after.step_id) == (
        before.progress.steps_completed,
        before.step_id,
    )
    assert after.flaw_count == 0
    assert len(new) == len(old) + 1
    for one, two in zip(old, new, strict=False):
        assert (one["ts"], one["round"], one["actor"]) == (two["ts"], two["round"], two["actor"])
        assert one["meta"]["seal"] == two["meta"]["seal"]  # type: ignore[index]
    content = evening.item.transcript.read_bytes()
    assert foreign_ids(content, TRUSTED) == {""}
    assert read_chain(content, TRUSTED).flaws == ()
    assert "network is slow" not in evening.text()
    assert "sizes" not in evening.text()


def test_what_another_person_also_said_stays(evening: Erasing) -> None:
    """Linus wrote it in the same words: they are his."""
    evening.forget("grace", words=True, typed=False)

    assert "As Linus said: a queue keeps the edits" in evening.text()
    assert evening.differences() == []


def test_words_that_are_written_back_do_not_count(evening: Erasing) -> None:
    """Who can push has no seal for them."""
    line = next(row for row in evening.item.transcript.read_text().splitlines() if "network is slow" in row)
    evening.forget("grace", words=True, typed=False)
    content = evening.item.transcript.read_text().split("\n")
    place = next(at for at, row in enumerate(content) if json.loads(line)["meta"]["message_id"] in row)
    changed = json.loads(content[place])
    changed["content"] = "decision: no queue at all"
    content[place] = json.dumps(changed)
    evening.item.transcript.write_text("\n".join(content))

    assert any("does not hold" in one for one in evening.differences())


GRACE = Forgetting(
    "p-aaaaaaaaaa",
    ("Grace Hopper",),
    "2026-11-28",
    user="U0GRACE",
    others=frozenset({"Grace Kelly", "Ada", "Maya"}),
)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("As Grace said", "As - said"),
        ("as grace said, and GRACE's list", "as - said, and -'s list"),
        ("Grace Hopper, grace\nhopper; @Grace", "-, -; @-"),
        ("_Grace_, *grace*, __Grace__ and (Grace)", "_-_, *-*, __-__ and (-)"),
        ("<@U0GRACE> U0GRACES", "<@-> U0GRACES"),
        ("Grace Kelly and grace kelly, not Grace", "Grace Kelly and grace kelly, not -"),
        ("gracious, disgrace, grace-notes, grace_period, p-grace", None),
        ("Ada, Maya, Hopper", None),
    ],
)
def test_a_name_is_found_however_people_type_it(text: str, after: str | None) -> None:
    assert TypedNames(GRACE).replace(text, "-")[0] == (text if after is None else after)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("Grace Hopper", "Grace"),
        ("Dr. Grace Hopper", "Grace"),
        ("J. R. Smith", "Smith"),
        ("(Zoë) Müller", "Zoë"),
        ("Grace", "Grace"),
        ("Hopper, Grace", "Hopper"),
        ("山田 太郎", "山田"),
        ("A. B.", ""),
        ("...", ""),
        ("", ""),
    ],
)
def test_a_first_name_is_the_first_that_is_not_shortened(name: str, first: str) -> None:
    assert first_name(name) == first


def test_a_persona_keeps_its_name(tmp_path: Path) -> None:
    """A person may be called as one is; codes and actors of lines are not what somebody typed."""
    evening = Erasing(tmp_path, [("linus", "Jordan, what does one see? As grace said: not much")])
    actors = [row["actor"] for row in rows(evening)]
    others = names_of(PLAYBOOK.roster)
    evening.forget("grace", words=False, typed=True, names=("Jordan Baker", "Grace Hopper"), others=others)

    assert [row["actor"] for row in rows(evening)][:-1] == actors
    assert "Jordan, what does one see?" in evening.text()
    assert "As grace said" not in evening.text()
    assert evening.differences() == []


def test_what_another_file_has_in_the_same_words_stays_in_the_history(evening: Erasing) -> None:
    """Git has one blob of it: taken out for one path, it is gone from the other, too."""
    git = Git(evening.root)
    git.commit("docs/copy.jsonl", evening.item.transcript.read_text())
    evening.forget("grace", words=True, typed=False)
    listed = Forgetter(evening.root, items_dir=ITEMS, seal=SEAL).earlier([evening.item.slug])

    assert listed
    assert git("rev-parse", "HEAD:docs/copy.jsonl").strip() not in listed


ERASING = st.one_of(
    st.tuples(st.just("forget"), st.sampled_from(PEOPLE), st.booleans(), st.booleans()),
    st.tuples(st.just("scrub"), st.just(""), st.just(False), st.just(False)),
)


EVENINGS = (
    [("grace", SAID[0]), ("ada", SAID[1]), ("linus", SAID[4]), ("ada", SAID[3])],
    [("ada", SAID[5]), ("grace", SAID[7]), ("ada", SAID[0]), ("linus", SAID[6]), ("grace", SAID[5])],
    [("linus", SAID[2]), ("grace", SAID[1]), ("grace", SAID[4]), ("linus", SAID[4])],
    [("grace", SAID[3])],
)
"""Each is held once, which takes longer than to forget."""
ANY_EVENING = st.lists(st.tuples(st.sampled_from(PEOPLE), st.sampled_from(SAID)), min_size=1, max_size=6)


@pytest.mark.parametrize(
    "evenings",
    [st.sampled_from(EVENINGS), pytest.param(ANY_EVENING, marks=pytest.mark.thorough)],
    ids=["four", "any"],
)
def test_the_record_holds_after_any_sequence(evenings: st.SearchStrategy[list[tuple[str, str]]]) -> None:
    """Seals, files and progress; and what was taken out stays out, whatever is done afterwards."""

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    @given(said=evenings, erasing=st.lists(ERASING, min_size=1, max_size=5))
    def holds(said: list[tuple[str, str]], erasing: list[tuple[str, str, bool, bool]]) -> None:
        with TemporaryDirectory() as root:
            evening = Erasing(Path(root), said)
            before = replayed(evening.item.read_transcript())
            gone: set[str] = set()
            for what, person, words, typed in erasing:
                if what == "scrub":
                    evening.scrub()
                else:
                    evening.forget(person, words=words, typed=typed)
                    gone |= {person} if words else set()
                assert evening.differences() == []
                after = replayed(evening.item.read_transcript())
                assert after.progress.steps_completed == before.progress.steps_completed
                spoken = {str(row["content"]) for row in rows(evening) if author(row) in gone}
                assert spoken <= {MARK % REMOVED}

    holds()


def author(row: dict[str, object]) -> str:
    meta = row["meta"]
    assert isinstance(meta, dict)
    return str(meta.get("person")) if row["source"] == "user" else ""


def test_words_of_the_bot_that_a_person_repeats_are_no_way_to_break_a_seal(tmp_path: Path) -> None:
    """What vouches for changed lines stays as it is."""
    evening = Erasing(
        tmp_path, [("ada", "was forgotten on request."), ("grace", "Secrets were taken out of 1 line")]
    )
    for person in ("linus", "grace", "ada", "grace"):
        evening.forget(person, words=True, typed=True)
        evening.scrub()

        assert evening.differences() == []
