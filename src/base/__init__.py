"""What every other package stands on: the records that they pass on, failures and the exit status of each, safe text,
paths, progress, the argument parser.

It imports nothing of the project but its own modules; of shops, models and runs it knows only how their records look.
"""
