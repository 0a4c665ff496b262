"""Print the commands of a page, one a line: `python .ci/page_commands.py docs/CONTAINERS.md cpu`.

A fenced block counts when the line above its fence is `<!-- commands: NAME -->`; several blocks of one name are one
list, in order. Comments and empty lines are left out. Status 1 when there is no such block, so that CI cannot pass by
running nothing. It runs nothing itself.
"""

import re
import sys
from pathlib import Path

BLOCK = r"^<!-- commands: {name} -->\n+```\w*\n(.*?)^```$"


def commands(text: str, name: str) -> list[str]:
    """Return the commands of the blocks called `name`, e.g. `["docker compose build", ...]`."""
    blocks = re.findall(BLOCK.format(name=re.escape(name)), text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.partition(" # ")[0].strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def main() -> int:
    """Print them, or say on stderr that there are none."""
    path, name = Path(sys.argv[1]), sys.argv[2]
    found = commands(path.read_text(encoding="utf-8"), name)
    if not found:
        print(f"{path.name} has no block marked <!-- commands: {name} -->", file=sys.stderr)
        return 1
    print("\n".join(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
