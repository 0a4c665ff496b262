"""Going further than the tutorial: a third read tool, and who is asking. docs/EXTENDING.md walks through it.

Separate from R3 and off by default: it has a command line of its own, `python -m src.going_further`, and nothing in the
assistant imports it. It does not authenticate anybody: whoever runs a command says with `--caller` who is asking, where
a web framework would know it from a session.
"""
