"""Run the lesson's commands: `python -m src.run_sql --help`."""

import sys

from src.run_sql.cli import main

if __name__ == "__main__":
    sys.exit(main())
