"""Python in a process of its own."""

import os
import subprocess
import sys


def python(*arguments, env=None, check=True, **options):
    """A process that has ended, with what it printed; ``env`` is added to the environment."""
    command = [sys.executable, *map(str, arguments)]
    environment = {**os.environ, **(env or {})}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, **options)
    assert not check or done.returncode == 0, done.stderr
    return done
