"""Who the viewer lets in; without a browser."""

import contextlib
import socket
import threading
import time
import types
import urllib.error
import urllib.request

import pytest

import robodyn as rd
from robodyn.cli import main
from robodyn.view import Viewer
from robodyn.view.server import Guard, guarded_server

viser = pytest.importorskip("viser", reason="viser is not installed: extra view")
client = pytest.importorskip("websockets.sync.client")
from websockets.exceptions import InvalidStatus  # noqa: E402


@pytest.fixture(scope="module")
def here():
    with Viewer(rd.load("double_pendulum"), port=8310) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def beyond():
    with Viewer(rd.load("double_pendulum"), host="0.0.0.0", port=8330) as viewer:
        yield viewer


def joined(viewer, path="", origin=None, host=None):
    """Whether a websocket is let in and given the scene; anything but 403 is an error."""
    port = viewer.server.get_port()
    headers = {} if host is None else {"Host": host}
    protocol = [f"viser-v{viser.__version__}"]
    try:
        with client.connect(
            f"ws://127.0.0.1:{port}{path}",
            origin=origin,
            additional_headers=headers,
            subprotocols=protocol,
            max_size=None,
            compression=None,
            proxy=None,
        ) as socket:
            return len(socket.recv(timeout=30)) > 0
    except InvalidStatus as refused:
        assert refused.response.status_code == 403
        return False


def given(url, host=None):
    """Status of a page."""
    request = urllib.request.Request(url, headers={} if host is None else {"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


def test_websockets_of_its_own_page_only(here):
    port = here.server.get_port()
    assert joined(here, origin=f"http://127.0.0.1:{port}")
    for origin in (
        "http://evil.example", f"http://evil.example:{port}", f"http://127.0.0.1:{port + 1}",
        "http://127.0.0.1", f"http://localhost:{port}", "null", f"file://127.0.0.1:{port}",
        f"http://127.0.0.1:{port}.evil.example", f"http://127.0.0.1:{port}@evil.example", None,
    ):  # fmt: skip
        assert not joined(here, origin=origin), origin


def test_a_name_that_was_pointed_at_this_machine(here):
    """A site may point its own name here: its page then has the origin that its host has."""
    port = here.server.get_port()
    assert given(here.url) == given(here.url, f"localhost:{port}") == 200
    assert given(here.url, f"evil.example:{port}") == 403
    assert given(here.url, f"127.0.0.1.evil.example:{port}") == 403
    assert given(here.url, "[") == 403


def test_this_machine_needs_no_token(here):
    assert here.url == f"http://127.0.0.1:{here.server.get_port()}"
    assert Guard("localhost").token == Guard("::1").token == Guard("127.0.0.2").token == ""


def test_beyond_this_machine_with_the_token_only(beyond):
    port = beyond.server.get_port()
    start, token, end = beyond.url.rsplit("/", 2)
    assert start == f"http://127.0.0.1:{port}" and len(token) >= 32 and end == ""
    assert given(beyond.url) == given(f"{start}/{token}") == 200
    assert given(beyond.url, f"robot.example:{port}") == 200  # by any name of this machine
    assert given(f"{start}/{token}/nothing") == 404
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    for path in ("", "/", "/index.html", f"/{wrong}/", f"/{token}x/", f"/x/{token}/", f"//{token}/",
                 f"/?{token}", "/%C3%A4/"):  # fmt: skip
        assert given(start + path) == 403, path


def test_websockets_beyond_this_machine(beyond):
    port = beyond.server.get_port()
    own, path = f"http://127.0.0.1:{port}", "/" + beyond.url.rsplit("/", 2)[1]
    assert joined(beyond, path, own)
    assert not joined(beyond, path, "http://evil.example")
    for wrong in ("", "/", f"{path}x", "/index.html"):
        assert not joined(beyond, wrong, own), wrong


def test_each_viewer_has_a_token_of_its_own():
    assert len({Guard("0.0.0.0").token for _ in range(20)} - {""}) == 20
    assert Guard("").token and Guard("::").token


@pytest.mark.parametrize(
    ("addresses", "private"),
    [
        (["127.0.0.1", "::1"], True),
        (["127.0.0.1", "192.168.1.7"], False),
        (["192.168.1.7", "127.0.0.1"], False),
    ],
)
def test_a_name_of_this_machine_alone_has_no_address_beyond(monkeypatch, addresses, private):
    found = [(2, 1, 6, "", (address, 0)) for address in addresses]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found)
    assert (Guard("some.example").token == "") == private


def test_servers_that_start_at_once_are_guarded_one_by_one():
    """Each by its own guard, and the function that starts them is as before."""
    from websockets.asyncio import server

    plain, inside, most, ready = server.serve, [0], [0], threading.Barrier(2)

    def make():
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.1)
        handler = types.SimpleNamespace(__module__="viser.infra")
        with contextlib.suppress(Exception):
            server.serve(handler, "127.0.0.1", 0)
        inside[0] -= 1
        return types.SimpleNamespace(stop=lambda: None)

    def start():
        ready.wait()
        guarded_server(Guard("127.0.0.1"), make)

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert server.serve is plain


def test_a_server_that_cannot_be_guarded_is_not_left_running():
    class Server:
        stopped = False

        def stop(self):
            self.stopped = True

    server = Server()
    with pytest.raises(rd.RobodynError, match="cannot guard"):
        guarded_server(Guard("127.0.0.1"), lambda: server)
    assert server.stopped


def test_a_connection_that_is_dropped_is_no_error(here, caplog):
    with socket.create_connection(("127.0.0.1", here.server.get_port())):
        pass
    assert given(here.url) == 200  # the server has gone on
    assert not caplog.records


def test_other_servers_of_the_process_are_left_alone(here):
    from websockets.asyncio import server

    assert server.serve.__module__.startswith("websockets")


def test_the_command_says_the_token(monkeypatch, capsys):
    monkeypatch.setattr(Viewer, "wait", lambda viewer: None)
    assert main(["view", "double_pendulum", "--host", "0.0.0.0", "--port", "8350"]) == 0
    said = capsys.readouterr().out
    assert "http://127.0.0.1:8350/" in said and "this machine's name" in said
