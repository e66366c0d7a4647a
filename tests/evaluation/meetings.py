"""A small meeting, and how to read one."""

from pathlib import Path

from bot import shipped
from roundtable_eval.files import meetings_in, read_meeting
from roundtable_eval.meeting import Meeting
from tests.all_steps import shipped_playbook

PLAYBOOK = shipped_playbook()
SHIPPED = meetings_in([shipped.meetings_dir()], PLAYBOOK.roster)

PAYOUTS = """\
title: A limit for payouts
lead: Alex
evidence:
  src/payouts.py: |
    LIMIT = 5000
    def allowed(amount): return amount <= LIMIT
people:
  Ada:
    role: product
    opens: We want a limit for payouts.
    sheet:
      - {id: a1, says: "The limit counts per team.", asked: [[user, team], [limit, count]]}
      - {id: a2, says: "Support may lift it once.", asked: [[lift, exception]], volunteers: true}
  Grace:
    role: operations
    sheet:
      - {id: g1, says: "Our bank closes at 16:00.", asked: [[bank, day, time]]}
      - {id: g2, says: "A day of the bank is no day of ours.", asked: [[bank, day, time]]}
      - {id: g3, says: "On Fridays the bank closes at noon.", asked: [[bank, day, time]], must: [Friday]}
      - {id: g4, says: "I object: an alert is missing.", asked: [[against, worri]], dissent: true}
      - {id: g5, says: "Nobody was ever paid twice.", asked: [[twice]], lies: true}
code: [{id: c1, path: src/payouts.py, lines: 1-2, says: "5,000 today.", must: ["5,000"]}]
wrong: [{id: w1, all: [[midnight], [closes, resets]]}]
questions: {good: ["Grace, when does the bank close?"], vague: ["Is that all?"]}
"""


def meeting_of(folder: Path, text: str = PAYOUTS) -> Meeting:
    (folder / "payouts.yaml").write_text(text, encoding="utf-8")
    return read_meeting(folder / "payouts.yaml", PLAYBOOK.roster)
