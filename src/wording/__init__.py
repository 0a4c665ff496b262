"""What is wrong with a sentence about an observation, and the plain sentence that takes its place.

Pure functions over text and records: no file, no model, no network.
"""
