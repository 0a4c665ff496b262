"""For every suite below: Ctrl-C works in what the tests start, even where they were themselves started with `&`."""

import signal

# A shell without job control starts a background job with SIGINT ignored, and every child inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
