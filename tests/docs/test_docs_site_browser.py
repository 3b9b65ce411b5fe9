"""The site in a real browser: `pytest -m browser`, with Debian's `chromium` and docs.lock."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from support.markdown import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

QUESTIONS = Path(__file__).parent / "questions.tsv"
RIGHT = 47
PAGES = (
    "index",
    "start/install",
    "tutorial/01-a-task",
    "how-to/extract",
    "explanation/effects",
    "reference/chapters/05-tasks",
    "reference/names/index",
    "reference/names/par-map",
    "reference/errors/unbound-name",
    "reference/commands/run",
    "reference/python/run",
    "examples/one-task",
    "reference/glossary",
)
"""A page of each kind."""


def _build(folder):
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "builder", folder],
        env=os.environ | {"SOURCE_DATE_EPOCH": "1767225600"},
        capture_output=True,
        encoding="utf-8",
        timeout=500,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return _build(tmp_path_factory.mktemp("site") / "site")


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium")
    assert found, "this test needs a browser; as root: apt-get install -y chromium"
    with sync_playwright() as player:
        opened = player.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@contextmanager
def _opened(browser, *, width=1280, height=900, scheme="light"):
    size = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(60_000)
    yield page
    context.close()


@contextmanager
def _served(folder):
    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _open_search(page, address):
    page.goto(address)
    page.click("[data-search-open]")
    page.wait_for_selector("dialog[data-ready]")


def _ask(page, question):
    """What the search gives for a question, as addresses below the site, the best first."""
    page.fill("dialog input", question)
    page.wait_for_function(
        "asked => document.querySelector('dialog').dataset.shown === asked", arg=question
    )
    return page.eval_on_selector_all(
        "dialog li > a:first-child", "links => links.map(each => each.getAttribute('href'))"
    )


def test_the_same_sources_give_the_same_bytes(site, tmp_path):
    """At a fixed date."""
    again = _build(tmp_path / "again")
    names = [
        sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
        for folder in (site, again)
    ]

    assert names[0] == names[1]
    assert [
        name for name in names[0] if (site / name).read_bytes() != (again / name).read_bytes()
    ] == []


@pytest.mark.parametrize("place", ["files", "server"])
def test_a_page_asks_for_nothing_but_what_is_beside_it(site, browser, place):
    """Nor does the search, whose first page is there."""
    with _served(site) as server, _opened(browser) as page:
        root = site.as_uri() if place == "files" else server
        asked, failed, said = [], [], []
        page.on("request", lambda request: asked.append(request.url))
        # What is under way when the next page is opened is broken off.
        page.on(
            "requestfailed",
            lambda request: request.failure == "net::ERR_ABORTED" or failed.append(request.url),
        )
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
        for name in PAGES:
            page.goto(f"{root}/{name}.html")
        _open_search(page, f"{root}/reference/names/par-map.html")
        assert _ask(page, "unbound-name")[0].endswith("/reference/errors/unbound-name.html")
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('unbound-name')")

    assert [url for url in asked if not url.startswith((f"{root}/", "data:"))] == []
    assert ([], []) == (failed, said)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_nothing_serious_is_in_the_way_of_a_screen_reader(site, browser, scheme, width):
    """By axe-core. On a phone nothing is wider than the screen."""
    from axe_playwright_python.sync_playwright import Axe

    found = []

    def look(page, name):
        for each in Axe().run(page).response["violations"]:
            if each["impact"] in ("serious", "critical"):
                found.append((name, each["id"], each["nodes"][0]["html"]))

    with _opened(browser, width=width, scheme=scheme) as page:
        for name in PAGES:
            page.goto(f"{site.as_uri()}/{name}.html")
            page.wait_for_timeout(200)
            look(page, name)
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, name
        _open_search(page, f"{site.as_uri()}/index.html")
        _ask(page, "retry")
        look(page, "search")
    assert [] == found


def read_questions():
    """What people type, with the pages that answer it."""
    rows = [line.split("\t") for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    return [(question, pages.split()) for question, pages in rows if not question.startswith("#")]


def test_the_search_finds_the_right_page(site, browser):
    """First, for nine of ten questions; every page that is expected is there."""
    questions = read_questions()
    missed = []
    with _opened(browser) as page:
        _open_search(page, f"{site.as_uri()}/index.html")
        for question, expected in questions:
            assert any((site / f"{each}.html").is_file() for each in expected), question
            found = [each.removeprefix("./").removesuffix(".html") for each in _ask(page, question)]
            if found[:1] == [] or found[0] not in expected:
                missed.append((question, found[:3]))

    assert len(questions) == 52
    assert len(missed) <= len(questions) - RIGHT, missed


def test_the_search_works_without_a_mouse(site, browser):
    """A slash opens it, arrows move, Enter follows, Escape closes."""
    with _opened(browser) as page:
        page.goto(f"{site.as_uri()}/index.html")
        page.keyboard.press("/")
        page.wait_for_selector("dialog[data-ready]")
        page.keyboard.type("par-map")
        page.wait_for_selector("dialog li")
        page.keyboard.press("ArrowDown")
        assert "A" == page.evaluate("document.activeElement.tagName")
        page.keyboard.press("ArrowUp")
        assert "INPUT" == page.evaluate("document.activeElement.tagName")
        page.keyboard.press("Escape")
        assert not page.evaluate("document.querySelector('dialog').open")
