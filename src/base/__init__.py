"""What every other package stands on: failures and the exit status of each, safe text, paths, progress, the argument
parser.

It imports nothing of the project but its own modules and knows nothing of shops, models or runs.
"""
