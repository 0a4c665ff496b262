"""What each command of `src.cli` does, what it takes on the command line, and how its result looks on a terminal.

Nothing is decided here about a call or measured about a run: `src.tools` decides, `src.measures` measures.
"""
