"""Runs a program in a terminal of 80 columns and 24 lines and talks with it.

Standard input holds one step a line, as JSON: {"send": TEXT} types, {"expect": TEXT} waits until TEXT was shown after
what was expected before. Prints everything that was shown. Ends with the program's exit code, or with 99 and a message
on stderr when something that was expected did not come.
"""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 30.0


def main():
    steps = [json.loads(line) for line in sys.stdin]
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.argv[1], sys.argv[1:])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown, position = "", 0
    raw = b""

    def read(deadline):
        nonlocal raw, shown
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            more = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side is closed.
            return False
        raw += more
        shown = raw.decode("utf-8", "replace")
        return bool(more)

    def fail(message):
        os.kill(child, signal.SIGKILL)
        sys.stdout.write(shown)
        sys.stderr.write(message)
        sys.exit(99)

    for step in steps:
        if "send" in step:
            os.write(terminal, step["send"].encode())
            continue
        deadline = time.monotonic() + PATIENCE
        while (found := shown.find(step["expect"], position)) < 0:
            if not read(deadline):
                fail("did not come: %r, after: %r" % (step["expect"], shown[position:]))
        position = found + len(step["expect"])
    deadline = time.monotonic() + PATIENCE
    while read(deadline):
        pass
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            fail("did not end")
        time.sleep(0.01)
    sys.stdout.write(shown)
    sys.exit(os.waitstatus_to_exitcode(ended[1]))


main()
