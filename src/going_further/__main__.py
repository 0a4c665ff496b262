"""Run the commands: `python -m src.going_further --help`."""

from src.base.exits import leave
from src.going_further.cli import main

if __name__ == "__main__":
    leave(main())
