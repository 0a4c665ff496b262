"""For every suite below: how deep a run goes, what it prints, and that Ctrl-C works in whatever the tests start."""

import signal

pytest_plugins = ["tests.support.depth", "tests.support.suites", "tests.support.tally"]

# A shell without job control starts a background job with SIGINT ignored, and every child inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The same with SIGHUP under nohup and on some CI machines: a test that hangs up waits for its own end then.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# SIGTERM ends a run as Ctrl-C does: workers, servers and commands that the tests started end with it.
signal.signal(signal.SIGTERM, signal.default_int_handler)
