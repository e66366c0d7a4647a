"""Persona files: the little that is needed, the much that may be said, and what becomes of bad ones."""

from pathlib import Path

import pytest

from bot.content.playbook import load
from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Principle
from bot.errors import ContentError

FULL = """---
key: release-captain
name: Zoë Lin
role: Release Captain
short: RC
actor: ReleaseCaptain
icon: rocket
phases: [05-rollout, 06-aftercare]
lens: getting it out safely
---

Some words before the first heading.

## Identity

I'm Zoë. I get things
out of the door.

## Style

Calm.

## Principles

- **Small steps** — one thing at a time,
  and back if need be
- **Rehearse**: nothing happens for the first time in production
- **Watch:** look at it afterwards
- Sleep well

## Looks for

- Who asks for the way back.

## Changes my mind

- A map.

## Does

- Brings cake.

## Does not

- Ship on Fridays.
- Panic.

## Acknowledgement

"Noted. {concern} goes on the list."

## Questions

- What is the way back?
- Who is on call?

## Private notes

- Not a question.
"""


def small(key: str, name: str = "Ann Lee", *fields: str) -> str:
    return "\n".join(["---", f"key: {key}", f"name: {name}", "role: Guest", *fields, "---", ""])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "personas"
    folder.mkdir(parents=True)
    (tmp_path / "steps").mkdir()
    return folder


def read(folder: Path) -> Playbook:
    return load(folder, folder.parent / "steps")


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def test_a_persona_is_a_markdown_file(folder: Path) -> None:
    """Everything in it has its place; unknown sections are passed over."""
    write(folder, zoe=FULL)

    zoe = read(folder).roster["release-captain"]

    assert (zoe.name, zoe.role, zoe.short, zoe.actor) == (
        "Zoë Lin",
        "Release Captain",
        "RC",
        "ReleaseCaptain",
    )
    assert (zoe.icon, zoe.lens) == (":rocket:", "getting it out safely")
    assert zoe.phases == ("05-rollout", "06-aftercare")
    assert (zoe.identity, zoe.style) == ("I'm Zoë. I get things\nout of the door.", "Calm.")
    assert zoe.principles == (
        Principle(title="Small steps", text="one thing at a time, and back if need be"),
        Principle(title="Rehearse", text="nothing happens for the first time in production"),
        Principle(title="Watch", text="look at it afterwards"),
        Principle(title="Sleep well"),
    )
    assert zoe.looks_for == ("Who asks for the way back.",)
    assert zoe.changes_my_mind == ("A map.",)
    assert zoe.does_not == ("Ship on Fridays.", "Panic.")


def test_three_lines_are_enough(folder: Path) -> None:
    """Key, name and role; the rest follows from them."""
    write(folder, ann=small("ann", "Ann Lee", "icon:", "phases: []"))

    ann = read(folder).roster["ann"]

    assert ann.label == "Ann Lee (Guest)"
    assert (ann.short, ann.actor, ann.lens) == ("Ann", "Guest", "guest")
    assert ann.icon == ":bust_in_silhouette:"
    assert ann.identity == "I'm Ann Lee, your Guest."


def test_one_phase_needs_no_list(folder: Path) -> None:
    """`phases: 05-rollout` is clear enough."""
    write(folder, ann=small("ann", "Ann Lee", "phases: 05-rollout"))

    assert read(folder).roster.lead_of("05-rollout")[0].key == "ann"


def test_those_who_lead_speak_in_the_order_of_their_phases(folder: Path) -> None:
    """The others follow by name, whatever the files are called."""
    write(
        folder,
        a=small("zed", "Zed"),
        b=small("late", "Late", "phases: [04-design]"),
        c=small("early", "Early", "phases: [03-architecture, 00-quick-scan]"),
        d=small("abe", "Abe"),
    )

    assert [persona.key for persona in read(folder).roster] == ["early", "late", "abe", "zed"]


def test_of_two_leads_the_first_leads(folder: Path) -> None:
    """The log says who steps back."""
    write(
        folder,
        a=small("ben", "Ben", "phases: [01-requirements]"),
        b=small("abe", "Abe", "phases: [01-requirements]"),
    )

    playbook = read(folder)

    assert playbook.roster.lead_of("01-requirements")[0].key == "abe"
    assert playbook.notes == ("Abe leads 01-requirements; Ben would, too.",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no front matter", "front matter are missing"),
        ("---\nkey: [\n---\n", "line 3: a value or a closing bracket is missing"),
        ("---\nname: Ann\nrole: Guest\n---\n", "key: it is missing"),
        (small("ann", ""), "name: it is missing"),
        (small("Not A Key"), "key: "),
        (small("ann", "Ann", "icon: two words"), "icon: "),
        (small("ann", "Ann", "actor: User"), "actor: "),
        (small("ann", "Ann", "phases: [requirements]"), "phases: "),
        (small("ann", "Ann", "lens: [a, b]"), "lens: "),
        (small("good"), "the key good is taken"),
    ],
)
def test_a_bad_file_is_left_out(folder: Path, text: str, reason: str) -> None:
    """ERR-RT-002 for people, file and reason for those who mend it; the others take part."""
    write(folder, a=small("good"), b=text)

    playbook = read(folder)

    [told] = [trouble for trouble in playbook.troubles if trouble.code == "ERR-RT-002"]
    assert told.sentence == (
        "Warning: Roundtable agent file has invalid format. Falling back to standard analysis agents."
    )
    assert told.facts["reason"].startswith("b.md: ")
    assert reason in told.facts["reason"]
    assert [persona.key for persona in playbook.roster] == ["good"]


def test_an_unreadable_file_is_left_out(folder: Path) -> None:
    """ERR-RT-002 as well."""
    write(folder, a=small("good"))
    (folder / "b.md").mkdir()

    assert [trouble.facts["reason"] for trouble in read(folder).troubles if trouble.code == "ERR-RT-002"] == [
        "b.md: b.md is not a file"
    ]


def test_without_the_folder_of_personas_nothing_starts(tmp_path: Path) -> None:
    """One clear sentence that names the folder."""
    with pytest.raises(ContentError, match=r"There is no folder of personas at .*nowhere\."):
        load(tmp_path / "nowhere", tmp_path)


def test_without_personas_nothing_starts(folder: Path) -> None:
    """An empty folder is no table."""
    with pytest.raises(ContentError, match=r"There is no usable persona in .*personas\."):
        read(folder)


def test_without_a_usable_persona_nothing_starts(folder: Path) -> None:
    """The sentence says what is wrong with each."""
    write(folder, a="x", b=small("", "Ann"))

    with pytest.raises(
        ContentError, match=r"no usable persona in .*: a\.md: .*; b\.md: key: it is missing\."
    ):
        read(folder)


# --- the steps of a persona that cannot be used -----------------------------------------------------------------------

STEP = """---
step_id: "01-01"
title: Security
persona: {persona}
depth: standard
outputs: [security.md]
---

## Standard Mode

1. Who may do what?
"""


def steps_of(folder: Path, persona: str) -> Playbook:
    phase = folder.parent / "steps" / "01-requirements"
    phase.mkdir()
    (phase / "01-security.md").write_text(STEP.format(persona=persona), encoding="utf-8")
    return read(folder)


@pytest.mark.parametrize(
    ("text", "persona"),
    [(small("security", ""), "security"), ("no front matter", "sec"), ("---\nkey: [\n---\n", "sec")],
)
def test_the_steps_of_a_persona_without_a_name_are_kept(folder: Path, text: str, persona: str) -> None:
    """More than ERR-STEP-006 asks: one mistake in a persona file must not cost all of its steps."""
    write(folder, ann=small("ann"), sec=text)

    playbook = steps_of(folder, persona)

    assert [step.step_id for step in playbook.agenda.steps] == ["01-01"]
    assert [one.code for one in playbook.troubles_of("01-requirements")] == []
    assert playbook.roster.unusable == {persona}


def test_a_step_of_a_persona_that_has_no_file_is_left_out(folder: Path) -> None:
    """ERR-STEP-006: a mistake in the step."""
    write(folder, ann=small("ann"))

    playbook = steps_of(folder, "anne")

    assert playbook.agenda.steps == ()
    assert "ERR-STEP-006" in [one.code for one in playbook.troubles_of("01-requirements")]
