"""Types a text at a program's prompt through a pseudo-terminal and prints everything that appeared there.

Usage: terminal.py TEXT-FILE PROGRAM ARGUMENT...   The text is sent at once, as a paste is, and then Ctrl-D.
"""

import os
import pty
import select
import sys
import time


def main():
    text = open(sys.argv[1], "rb").read()
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.argv[2], sys.argv[2:])
    seen = b""
    sent = False
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.1)
        if ready:
            try:
                part = os.read(terminal, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
        # The first prompt is there: the program reads.
        if not sent and b"> " in seen:
            sent = True
            for at in range(0, len(text), 512):
                os.write(terminal, text[at : at + 512])
                time.sleep(0.01)
            os.write(terminal, b"\nexit\n")
    _, status = os.waitpid(child, 0)
    sys.stdout.buffer.write(seen)
    sys.exit(os.waitstatus_to_exitcode(status))


main()
