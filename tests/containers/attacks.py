"""The attack suite: every protection of compose.yaml tried from inside, and the table of what came of it.

`python tests/containers/attacks.py` prints the table and writes outputs/attacks.json; status 1 when an attack got
through. Each attack runs twice: in the real service as compose starts it, and as a control in the same image without
protection, where it must succeed; an attack that never works proves nothing.
Needs a running engine, the images built, `server-cpu` up and the database prepared.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, Python puts this folder there instead

from tests.containers.attack_list import ATTACKS, Attack
from tests.containers.probes import connect
from tests.containers.scene import OUTPUTS, ROOT, SCRATCH, Scene, docker, image, must

RESOLVER_LOG = "R3_ATTACK_RESOLVER_LOG"  # set by .ci/containers.sh, which also gives the engine that resolver
PROBE = ("-m", "tests.containers.probes")
NO_ROUTE = "refused: the host has no route to the bridge, and no port is published"
FIRST_ADDRESS = {"connect": 1, "datagram": 2}  # where the first address stands in a probe's words


@dataclass
class Outcome:
    """What came of an attack and of its control."""

    name: str
    service: str
    protection: str
    protected: str
    control: str
    held: bool = False
    tried: bool = True
    notes: list[str] = field(default_factory=list)


def outcome(done: subprocess.CompletedProcess[str]) -> str:
    """The line a probe printed, or how it ended when it could print none."""
    lines = [line for line in done.stdout.splitlines() if line.startswith(("done: ", "refused: "))]
    if lines:
        return lines[-1]
    if done.returncode == 137:  # 128 + SIGKILL: the kernel's answer to too much memory
        return "refused: killed, status 137"
    return f"broken: status {done.returncode}: {' '.join((done.stderr or done.stdout).split())[-300:]}"


def attack_protected(attack: Attack, scene: Scene) -> str:
    """Run the probe in the service as compose.yaml describes it."""
    probe = scene.fill_in(attack.probe)
    if attack.service == "the host":
        return from_host(probe[1])
    if attack.service == "fetch" and probe[0] == "connect" and not leads_to_bridge(probe[1]):
        return NO_ROUTE
    if attack.service == "server-cpu" and not attack.settings:  # the one that runs
        done = docker("compose", "exec", "-T", attack.service, "python", *PROBE, *probe)
    else:
        run = ("compose", "--profile", "*", "run", "--rm", "--no-deps", "-T", "--entrypoint", "python")
        done = docker(
            *run, *scene.fill_in(attack.run_options), attack.service, *PROBE, *probe, settings=attack.settings
        )
    return counted(outcome(done), probe, scene)


def attack_control(attack: Attack, scene: Scene) -> str:
    """Run the same probe in the same image without protection."""
    probe = scene.fill_in(attack.probe)
    if attack.service == "the host":
        return from_host(scene.words["other"])
    if probe[0] in FIRST_ADDRESS:  # the others are of networks that an unprotected container cannot route to
        probe = probe[: FIRST_ADDRESS[probe[0]] + 1]
    if probe[0] == "write_database":
        probe[0] = "write_database_plainly"
    mounts = ("-v", f"{SCRATCH}:/app/outputs/{SCRATCH.name}", "-v", f"{SCRATCH / 'stock.db'}:{scene.words['model']}")
    run = ("run", "--rm", *mounts, *scene.fill_in(attack.control), image())
    return counted(outcome(docker(*run, *PROBE, *probe)), probe, scene)


def from_host(address: str) -> str:
    """Connect from this machine, but only over a bridge of the engine: nothing may leave by the way out."""
    published = docker("compose", "port", "server-cpu", "8080").stdout.strip()
    if published and not published.endswith(":0"):
        return f"done: published as {published}"
    return connect(address) if leads_to_bridge(address) else NO_ROUTE


def leads_to_bridge(address: str) -> bool:
    """Whether this machine, which forwards for its containers too, would send to a bridge and not out of the door."""
    host = address.rsplit(":", 1)[0]
    route = subprocess.run(["ip", "route", "get", host], capture_output=True, text=True, check=False).stdout
    return re.search(r" dev (br-|docker)", route) is not None


def counted(text: str, probe: list[str], scene: Scene) -> str:
    """For what is sent without a connection, what the suite's listener saw counts, not what the sender was told."""
    if probe[0] == "look_up":
        arrived = probe[1] in Path(os.environ[RESOLVER_LOG]).read_text()
    elif probe[0] == "datagram":
        arrived = probe[1] in scene.arrived
    else:
        return text
    return "done: it arrived" if arrived else f"{text}; nothing arrived"


def left_out(attack: Attack) -> str:
    """Why an attack is not tried: its name query would reach a resolver that is not the suite's own."""
    if attack.probe[0] == "look_up" and RESOLVER_LOG not in os.environ:
        return "not tried: the engine's resolver is not the suite's own; sh .ci/containers.sh sets that scene"
    return ""


def run(attack: Attack, scene: Scene) -> Outcome:
    """Run one attack, protected first, so that what the control sends is not taken for the attack's."""
    if reason := left_out(attack):
        return Outcome(attack.name, attack.service, attack.protection, reason, "not tried", tried=False)
    protected = attack_protected(attack, scene)
    control = attack_control(attack, scene)
    result = Outcome(attack.name, attack.service, attack.protection, protected, control)
    held = re.search(attack.stopped, protected) is not None
    result.held = held and control.startswith("done: ")
    if not held:
        result.notes.append(f"expected {attack.stopped}")
    if not control.startswith("done: "):
        result.notes.append("the control did not succeed, so the attack proves nothing")
    return result


def run_all(attacks: list[Attack]) -> list[Outcome]:
    """Run every attack in one scene."""
    with Scene().ready() as scene:
        return [run(attack, scene) for attack in attacks]


def table(results: list[Outcome]) -> str:
    """The outcomes as a Markdown table."""
    rows = [("from", "attack", "stopped by", "outcome", "without protection", "holds")]
    rows += [
        (
            result.service,
            result.name,
            result.protection,
            result.protected,
            result.control,
            ("yes" if result.held else "NO") if result.tried else "-",
        )
        for result in results
    ]
    head = "| " + " | ".join(rows[0]) + " |\n|" + " --- |" * len(rows[0])
    return "\n".join([head, *("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows[1:])])


def record(results: list[Outcome]) -> Path:
    """Write the outcomes to outputs/attacks.json and, as a table, to outputs/attacks.md; returns the first path."""
    versions = {
        "engine": must("version", "--format", "{{.Server.Version}}"),
        "compose": must("compose", "version", "--short"),
    }
    path = OUTPUTS / "attacks.json"
    path.write_text(json.dumps({**versions, "attacks": [asdict(result) for result in results]}, indent=2) + "\n")
    made = f"Engine {versions['engine']}, Compose {versions['compose']}, {date.today().isoformat()}"
    path.with_suffix(".md").write_text(f"{made}\n\n{table(results)}\n")
    return path


def main() -> int:
    """Print the table, write it to outputs/, and say by the status whether every protection held."""
    results = run_all(ATTACKS)
    path = record(results)
    print(table(results))
    for result in results:
        for note in result.notes:
            print(f"attacks: {result.service}: {result.name}: {note}; got {result.protected}", file=sys.stderr)
    tried = [result for result in results if result.tried]
    held = sum(result.held for result in tried)
    missed = f"; {len(results) - len(tried)} not tried, see the table" if len(tried) < len(results) else ""
    print(f"\n{held} of {len(tried)} attacks were stopped as documented ({path.relative_to(ROOT)}){missed}")
    return 0 if held == len(tried) else 1


if __name__ == "__main__":
    sys.exit(main())
