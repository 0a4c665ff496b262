"""A run of the agent from its data file to its record: questions, results as they come, the journal, resuming, and the
conditions that a result was produced under.

How one question is answered is in `src/agent.py`; how good a result is, in `src.measures`.
"""
