"""The HTML page about a run: what it says (`content`, `question`) and how it is rendered (`render`, with its template,
style and script).

It measures nothing that `evaluate` measures, and it asks no model.
"""
