"""Reads what operators write. The only package that knows YAML and the folders of personas and steps."""
