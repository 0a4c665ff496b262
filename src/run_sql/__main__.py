"""Run the lesson's commands: `python -m src.run_sql --help`."""

from src.base.exits import leave
from src.run_sql.cli import main

if __name__ == "__main__":
    leave(main())
