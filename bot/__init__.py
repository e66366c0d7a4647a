"""Roundtable: a Slack bot that hosts roundtable discussions and keeps their record in git."""
