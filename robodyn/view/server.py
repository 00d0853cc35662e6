"""The server of the viewer: viser, behind a guard that accepts or refuses requests."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import secrets
import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from robodyn.errors import MissingExtraError, RobodynError

#: Length of a token [bytes]; long enough that it cannot be guessed.
TOKEN = 24

#: Browsers open connections ahead of their use and drop them, which is no error.
_LOGGER = logging.getLogger("robodyn.view.connections")
_LOGGER.addFilter(lambda record: record.getMessage() != "opening handshake failed")

#: Held while a server starts, so that two servers that start at once get their own guards.
_STARTING = threading.Lock()

Answer = Callable[[Any, Any], Any]


class Guard:
    """Accepts or refuses requests to a server.

    A page of another site that is open in the same browser could reach a server on this machine,
    and a server that listens beyond this machine is reached by everyone nearby. So a websocket is
    accepted from the page of the server itself only; on this machine, the page is given only under
    a name of this machine, which no name server can have pointed here; and beyond it, the address
    of page and websocket starts with a random token.

    The ``token`` is the first part of the path of all addresses; it is empty if only this machine
    can connect.

    host: Where the server listens.
    """

    def __init__(self, host: str) -> None:
        self._host = host.lower()
        self.token = "" if _is_this_machine(host) else secrets.token_urlsafe(TOKEN)

    def over(self, answer: Answer) -> Answer:
        """A function that answers requests, behind the guard.

        Such functions of `websockets` get a connection and a request, and return a response, or
        ``None`` to accept a websocket.
        """

        def guarded(connection: Any, request: Any) -> Any:
            path = self.path(request.path, request.headers.get("Host", ""))
            if path is None:
                where = "with the token in the address" if self.token else "at 127.0.0.1"
                return _refused(connection, f"open the page {where}, as robodyn has printed it")
            response = answer(connection, type(request)(path, request.headers))
            if response is None and not _same_origin(request.headers):
                return _refused(connection, "a websocket is for the viewer's own page only")
            return response

        return guarded

    def path(self, asked: str, host: str) -> str | None:
        """The path without the token; ``None`` if the request has to be refused.

        ``asked`` is the path of the request, and ``host`` what it calls this machine, with the
        port.
        """
        if not self.token:
            name = _hostname(host)
            return asked if (name in ("localhost", self._host) or _is_loopback(name)) else None
        plain, question, rest = asked.partition("?")
        first, _, others = plain.removeprefix("/").partition("/")
        if not hmac.compare_digest(first.encode(), self.token.encode()):
            return None
        return f"/{others}{question}{rest}"


def guarded_server(guard: Guard, make: Callable[[], Any]) -> Any:
    """Start a viser server whose requests pass a guard, from the first one on.

    viser hands the function that answers requests to `websockets.asyncio.server.serve`; while it
    starts, that name stands for a function that puts the guard before it.

    Raises `RobodynError` if this version of viser starts its server in another way.

    make: Starts the server.
    """
    from websockets.asyncio import server

    guarded = []
    with _STARTING:
        plain: Any = server.serve

        def serve(handler: Any, *args: Any, process_request: Any = None, **options: Any) -> Any:
            if getattr(handler, "__module__", "").startswith("viser."):
                guarded.append(handler)
                process_request = guard.over(process_request)
                options["logger"] = _LOGGER
            return plain(handler, *args, process_request=process_request, **options)

        module: Any = server
        module.serve = serve
        try:
            made = make()
        finally:
            module.serve = plain
    if not guarded:
        made.stop()
        raise RobodynError(
            "this version of viser starts its server in a way that robodyn does not know, and "
            "cannot guard: install viser 1.1"
        )
    return made


def _refused(connection: Any, reason: str) -> Any:
    return connection.respond(HTTPStatus.FORBIDDEN, f"Refused: {reason}.\n")


def _same_origin(headers: Any) -> bool:
    """Whether a request comes from a page of this server, by the browser's ``Origin`` header."""
    origins, hosts = headers.get_all("Origin"), headers.get_all("Host")
    if len(origins) != 1 or len(hosts) != 1:
        return False
    origin = urlsplit(origins[0].lower())
    return origin.scheme in ("http", "https") and origin.netloc == hosts[0].lower()


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_this_machine(host: str) -> bool:
    """Whether a server that listens at a host can be reached from this machine only."""
    if not host:
        return False
    found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    return all(_is_loopback(str(address[0])) for *_, address in found)


#: Hosts that mean all addresses of this machine, and the loopback address for each.
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def start_server(host: str, port: int, label: str) -> tuple[Any, Guard]:
    """Start a ``viser.ViserServer`` whose requests pass a `Guard`.

    Raises `MissingExtraError` if viser is not installed, `RobodynError` if the host is not an
    address of this machine or the port is not valid.

    port: If it is in use, the next free one is taken.
    label: Title of the page.
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
