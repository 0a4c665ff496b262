"""How a child process ended, in words: a signal's name tells a person more than its number."""

import signal

USUALLY = {
    signal.SIGKILL: "usually because memory ran out",
    signal.SIGILL: "this processor lacks an instruction that it was built for",
    signal.SIGSEGV: "a fault in its native code",
    signal.SIGABRT: "it found itself in a state that must not be",
    signal.SIGBUS: "a file was cut while it was in use, or the disk has an error",
}


def ended(status: int) -> str:
    """Return how a process with this `returncode` ended, e.g. `by SIGKILL (usually because memory ran out)`."""
    if status >= 0:
        return f"with status {status}"
    try:
        number = signal.Signals(-status)
    except ValueError:
        return f"by signal {-status}"
    return f"by {number.name} ({USUALLY[number]})" if number in USUALLY else f"by {number.name}"
