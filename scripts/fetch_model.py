#!/usr/bin/env python3
"""Fetch pinned model files: `python scripts/fetch_model.py --model embedded`; the work is `src/weights/fetch.py`."""

import os
import sys
from pathlib import Path

project = str(Path(__file__).resolve().parent.parent)
path = os.pathsep.join(filter(None, (project, os.environ.get("PYTHONPATH"))))
command = [sys.executable, "-m", "src.weights.fetch", *sys.argv[1:]]
# PYTHONSAFEPATH: no `src` of the current folder. An interpreter that is too old to know it is told so by `src` itself.
env = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
os.execve(sys.executable, command, env)  # noqa: S606 (no shell on purpose)
