"""An argument parser that reports wrong use in one line, for the commands of both lessons."""

import argparse
from typing import NoReturn

from src.printable import visible


class Parser(argparse.ArgumentParser):
    """`argparse`'s parser without the block of usage text before an error."""

    def error(self, message: str) -> NoReturn:
        """Print the fault and where to read on; exits with status 2."""
        self.exit(2, f"{self.prog}: {visible(message)}; see {self.prog} --help\n")
