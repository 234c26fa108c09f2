"""Modules that replace those of other tools: change an import, or call `install()`, and scripts work as before."""
