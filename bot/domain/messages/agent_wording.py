"""What an app that is declared an agent says in a direct message, and what it suggests there."""

TITLE = "What would you like to do?"
PROMPTS = (
    ("What waits for me?", "What waits for me?"),
    ("Catch me up", "Catch me up"),
    ("Start a roundtable", "start"),
)
"""What stands on each suggestion, and what it says for the person."""


def on_home() -> str:
    return "The Home tab above lists what waits for you."


def belongs_nowhere() -> str:
    return "I can't tell where that belongs. Say it in the thread of its roundtable."
