#!/usr/bin/env python3
"""Fetch pinned model files: `python scripts/fetch_model.py --model embedded`; the work is `src/weights/fetch.py`."""

import os
import sys
from pathlib import Path

project = str(Path(__file__).resolve().parent.parent)
path = os.pathsep.join(filter(None, (project, os.environ.get("PYTHONPATH"))))
command = [sys.executable, "-P", "-m", "src.weights.fetch", *sys.argv[1:]]  # -P: no `src` of the current folder
os.execve(sys.executable, command, {**os.environ, "PYTHONPATH": path})  # noqa: S606 (no shell on purpose)
