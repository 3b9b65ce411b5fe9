"""The page of a report in a real browser: `pytest -m browser`, with Debian's `chromium`.

`--update` renews the picture in spec/.
"""

import json
import re
import shutil
import subprocess

import pytest
from lxml import html
from support.markdown import ROOT
from support.recorded import example, page_of, rows_in, rows_of

pytestmark = pytest.mark.browser

ACTIONS = """<script>{
for (const each of document.querySelectorAll("details[data-row] > div > div > details")) {
  each.open = true;
}
document.getElementById("fold").click();
const order = document.getElementById("order");
order.value = "tokens";
order.dispatchEvent(new Event("change"));
const find = document.getElementById("find");
find.value = "FIND-OUT";
find.dispatchEvent(new Event("input"));
}</script>"""


def browsed(page, *options):
    """What headless Chromium makes of a page."""
    browser = shutil.which("chromium")
    assert browser, "this test needs a browser; as root: apt-get install -y chromium"
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000"]
    done = subprocess.run(
        [browser, *words, f"--user-data-dir={page.parent / 'profile'}", *options, f"file://{page}"],
        capture_output=True,
        encoding="utf-8",
        timeout=100,
    )
    assert 0 == done.returncode, done.stderr
    return done


def dumped(page, *options):
    return html.document_fromstring(browsed(page, "--dump-dom", *options).stdout)


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    path = example(folder, "plan/plan.sexp", "plan/replies.json")
    (folder / "page.html").write_text(page_of(path)[0])
    return folder


def test_the_rows_that_a_browser_sees_are_those_of_the_journal(plan):
    """All of them, in their order, and the script of the page has run under its policy."""
    page = dumped(plan / "page.html")

    assert [row["id"] for row in rows_of(plan / "run.jsonl")] == rows_in(page)
    assert "scripted" == page.body.get("class")
    assert rows_of(plan / "run.jsonl") == json.loads(page.get_element_by_id("rows").text)


def test_the_script_folds_finds_sorts_and_shows_raw_rows(plan):
    """As a person would click."""
    text = (plan / "page.html").read_text()
    text = re.sub("<meta http-equiv=.*?>", "", text).replace("</body>", f"{ACTIONS}</body>")
    (plan / "acted.html").write_text(text)
    page = dumped(plan / "acted.html")
    rows = page.xpath("//main//details[contains(@class, 'row')]")
    raw = [
        json.loads(each.text) for each in page.xpath("//pre[contains(@class, 'raw')]") if each.text
    ]
    (node, *_) = [row for row in rows if row.xpath("details[contains(@class, 'row')]")]

    assert sorted(row["id"] for row in rows_of(plan / "run.jsonl")) == sorted(
        each["id"] for each in raw
    )
    assert node.get("open") is None
    for row in rows:
        below = [float(each.get("data-tokens")) for each in row.xpath("details[@data-tokens]")]
        assert sorted(below, reverse=True) == below
        found = "find-out" in row.xpath("string(summary//span[1])").lower()
        within = row.xpath(".//details[contains(@class, 'row')]/summary//span[1]")
        fits = found or any("find-out" in each.text_content().lower() for each in within)
        assert (row.get("hidden") is None) == fits


def test_nothing_of_the_page_is_blocked_by_its_policy(plan):
    """Nothing was refused, and nothing else was asked for."""
    said = browsed(plan / "page.html", "--dump-dom", "--enable-logging=stderr").stderr

    assert "Refused" not in said and "Content Security Policy" not in said


def test_the_picture_shows_the_page(plan, request):
    """Wide enough to read, small enough to keep."""
    picture = plan / "report.png"
    browsed(plan / "page.html", "--window-size=1200,900", f"--screenshot={picture}")
    kept = ROOT / "spec" / "report.png"
    if request.config.getoption("--update"):
        kept.write_bytes(picture.read_bytes())
    sizes = [each.read_bytes()[16:24] for each in (picture, kept)]

    assert sizes[0] == sizes[1] == (1200).to_bytes(4, "big") + (900).to_bytes(4, "big")
    assert 20_000 < kept.stat().st_size < 300_000
