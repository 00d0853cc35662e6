"""Binds the sockets of DDS to the loopback interface.

cyclonedds opens its ports to every network, also when its interface is loopback (its issues 1923
and 2090): it announces loopback addresses only, but a packet made by hand would come in.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from robodyn.caller import warn


@contextmanager
def only_loopback() -> Iterator[None]:
    """Bind datagram sockets that are opened in this context to the loopback interface (Linux)."""
    before = open_sockets()
    yield
    if not sys.platform.startswith("linux"):
        warn(
            "DDS announces its address to programs of this computer only, but a firewall has to "
            "keep others from its ports"
        )
        return
    for inode, number in open_sockets().items():
        if inode not in before:
            _tie(number)


def _tie(number: int) -> None:
    with socket.socket(fileno=os.dup(number)) as twin:
        if twin.type != socket.SOCK_DGRAM or twin.family not in (socket.AF_INET, socket.AF_INET6):
            return
        try:
            twin.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
        except OSError as error:
            warn(f"port {twin.getsockname()[1]} of DDS may be reached from outside: {error}")


def open_sockets() -> dict[str, int]:
    """Sockets of this process, by their name in the kernel, with file descriptors (Linux)."""
    sockets = {}
    if sys.platform.startswith("linux"):
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                target = os.readlink(f"/proc/self/fd/{name}")
                if target.startswith("socket:"):
                    sockets[target] = int(name)
    return sockets
