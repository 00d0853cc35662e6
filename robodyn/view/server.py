"""The server of the viewer: viser, behind a guard."""

from __future__ import annotations

import socket
from typing import Any

from robodyn.errors import MissingExtraError, RobodynError
from robodyn.view.guard import Guard, guarded_server

__all__ = ["EVERYWHERE", "start_server"]

#: Hosts that mean all addresses of this machine, and the loopback address for each.
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def start_server(host: str, port: int, label: str) -> tuple[Any, Guard]:
    """Start a ``viser.ViserServer`` whose requests pass a `Guard`.

    Parameters
    ----------
    host : str
    port : int
        If it is in use, the next free one is taken.
    label : str
        Title of the page.

    Raises
    ------
    MissingExtraError
        If viser is not installed.
    RobodynError
        If the host is not an address of this machine, or the port is not valid.
    """
    viser = _viser()
    _check_address(host, port)
    guard = Guard(host)
    server = guarded_server(
        guard, lambda: viser.ViserServer(host=host, port=port, label=label, verbose=False)
    )
    server.request_share_url = _not_shared  # any page that connects could request it
    return server, guard


def _check_address(host: str, port: int) -> None:
    """Check that a server can listen at an address; viser would wait forever if it cannot."""
    if not 0 <= port <= 65535:
        raise RobodynError(f"port is {port}, expected a number from 0 to 65535")
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind) as trial:
            trial.bind(address)
    except OSError as error:
        reason = error.strerror or error
        raise RobodynError(f"{host!r} is no address of this machine: {reason}") from error


def _viser() -> Any:
    try:
        import viser
    except ImportError as error:
        if error.name not in ("viser", None):
            raise RobodynError(f"viser does not start: {error}") from error
        raise MissingExtraError("viser", "view", "showing a robot in the browser") from None
    return viser


def _not_shared(verbose: bool = True) -> None:
    """Replaces viser's sharing through an external server, so that no data leave this machine."""
