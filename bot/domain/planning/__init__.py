"""The planning workshop: roles give verdicts, people answer and decide, and what comes of it is a plan."""
