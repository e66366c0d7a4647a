"""Prompts for models. They depend on the roundtable alone: the same roundtable always gives the same prompt."""
