"""The commands and outputs in the documentation, extracted so that tests can run them.

A ```console block is a session: a line that begins with `$ ` is a command, what follows is its whole output on both
streams. In the output `…` stands for anything within a line, and a line with `…` alone for any number of lines. A
```sh block holds commands only. A comment just before a block marks it:
`<!-- run: engine -->` says where it runs, `<!-- not run: needs an NVIDIA GPU -->` why it does not,
`<!-- keys: 2 3 3 -->` that it runs on a terminal, with a line typed at each prompt.
"""

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
LIMIT_S = 600
END = "\x1e"  # printed after each command with its status; no command prints it


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the mark before it, its text, and the line of its fence."""

    path: Path
    line: int
    language: str
    mark: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The commands in the order they stand; a trailing backslash continues one."""
        lines = self.text.replace("\\\n", " ").splitlines()
        if self.language == "console":
            return [line[2:] for line in lines if line.startswith("$ ")]
        return [line.split(" #")[0].strip() for line in lines if line.strip() and not line.startswith("#")]

    def steps(self) -> list[tuple[str, str | None]]:
        """The commands, each with the output that is written below it, or `None` where none is shown."""
        if self.language != "console":
            return [(command, None) for command in self.commands]
        parts = re.split(r"^\$ (.*)\n?", self.text, flags=re.MULTILINE)[1:]
        return list(zip(parts[::2], parts[1::2], strict=True))

    def __str__(self) -> str:
        return f"{self.path.name}:{self.line}"


def blocks(path: Path) -> list[Block]:
    """Return the fenced blocks of a Markdown file that have a language, in order."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(path, text[: m.start("text")].count("\n"), m["language"], m["mark"] or "", m["text"])
        for m in FENCE.finditer(text)
    ]


def matches(expected: str, found: str) -> bool:
    """Whether an output is the one written down, with `…` for what varies."""
    pattern = ""
    for line in expected.rstrip("\n").split("\n"):
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n"
    return re.fullmatch(pattern, found.rstrip("\n") + "\n") is not None


def session(commands: Iterable[str], folder: Path, env: dict[str, str], limit_s: float) -> list[tuple[int, str]]:
    """Run commands one after another in one shell, as a reader does; each one's status and both its streams.

    The shell stops after the first command with a status other than 0.
    """
    after = f"ended=$?; printf '{END}%d\\n' $ended; [ $ended -eq 0 ] || exit"
    script = "".join(f"{command}\n{after}\n" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=limit_s,
        check=False,
    )
    parts = re.split(rf"{END}(\d+)\n", done.stdout)
    return [(int(status), output) for output, status in zip(parts[::2], parts[1::2], strict=False)]


def run(command: str, folder: Path, env: dict[str, str]) -> tuple[int, str]:
    """Run one command line in `folder` as a reader's shell would; returns its status and both streams."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
    )
    return done.returncode, done.stdout
