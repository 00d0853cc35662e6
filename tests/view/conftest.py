"""A real browser: the system's Chromium, or the one of playwright."""

from urllib.parse import urlsplit

import pytest

from robodyn.view.pages import OPTIONS, find_browser

#: Drawing by software on a busy machine takes seconds a picture [ms].
PATIENCE = 120_000


class Visit:
    """A page, what it asked for and what it complained of."""

    def __init__(self, page):
        self.page, self.asked, self.errors = page, [], []
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("websocket", lambda socket: self.asked.append(socket.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._said)

    def _said(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def open(self, viewer):
        self.page.goto(viewer.url)
        self.page.get_by_text("Posture").first.wait_for()
        self.drawn()

    def drawn(self):
        """Wait until some frames were drawn."""
        self.page.evaluate(
            "async () => { for (let k = 0; k < 4; k++) await new Promise(requestAnimationFrame) }"
        )

    @property
    def outside(self):
        """Requests to other hosts."""
        inside = ("127.0.0.1", "localhost", "")  # blob: and data: have no host
        return [url for url in self.asked if urlsplit(_plain(url)).hostname not in (*inside, None)]


def _plain(url):
    return url.removeprefix("blob:")


@pytest.fixture(scope="session")
def browser():
    pytest.importorskip("viser", reason="viser is not installed: extra view")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        try:
            started = running.chromium.launch(
                executable_path=find_browser(), args=["--no-sandbox", *OPTIONS]
            )
        except playwright.Error as error:
            reason = str(error).splitlines()[0]
            pytest.skip(f"no Chromium here (apt install chromium, or CHROMIUM=path): {reason}")
        yield started
        started.close()


@pytest.fixture
def visit(browser):
    page = browser.new_page(viewport={"width": 900, "height": 560})
    yield Visit(page)
    page.close()
