"""The model server seen from here: its settings, the exchange with it, waiting for it, its replies checked, and the
embedded one.

Nothing here knows what is asked or why; model files are `src.weights`.
"""
