"""What can be said about the results of a run beyond the published figures: wording, time, two runs compared, hostile
questions, and all of it as tables.

It reads results and never produces them; the four published measures are in `src/evaluate.py`.
"""
