"""The stock assistant: the model proposes, the code decides. Start reading at `src/agent.py`."""

__version__ = "1.1.0"
