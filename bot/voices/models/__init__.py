"""Minds by models of providers. Whatever is of a library for models stays in this folder."""

from bot.voices.models.minds import Minds, minds

__all__ = ["Minds", "minds"]
