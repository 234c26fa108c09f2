"""Modules that stand in for those of other tools: change an import, or call `install()`, and scripts go on as they are."""
