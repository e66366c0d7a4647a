"""Minds by models of providers. Whatever is of a library for models stays in this folder."""
