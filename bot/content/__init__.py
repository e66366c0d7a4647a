"""Reads personas/ and analysis-steps/ into a Playbook; the only package that knows YAML and these folders."""

from bot.content.load import load as load
