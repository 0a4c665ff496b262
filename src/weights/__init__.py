"""The pinned model files: the lock file that names them, whether a file is the pinned one, and how one is fetched.

No model is loaded here; serving one is `src.server`.
"""
