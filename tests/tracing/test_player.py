"""The page that plays trainings is one file, holds any text safely, and steps through the updates."""

import re
import shutil

import pytest

from swvp.tracing import Lesson, export_trace, lesson, write_player


@pytest.fixture
def page(tmp_path):
    write_player(tmp_path / "training.html", export_trace())
    return tmp_path / "training.html"


def test_the_page_asks_for_nothing_else(page):
    text = page.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|src=|@import|<link", text)
    assert "default-src 'none'" in text


def test_no_text_of_the_data_ends_the_script(tmp_path):
    points = lesson("two-dimensions")
    evil = Lesson("evil", "</script><script>alert(1)</script>", points.problem, points.X, points.y)
    write_player(tmp_path / "evil.html", export_trace(lesson=evil))
    text = (tmp_path / "evil.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in text
    assert text.count("</script>") == 2


def test_a_command_writes_the_page(fine, refused, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("Ann B-PER\nsaw O\nBo B-PER\n\nthey O\nsaw O\nAnn B-PER\n", encoding="utf-8")
    _, message = fine("explain-update", names, "--html", "training.html", "--most", 3)
    assert re.fullmatch(r"wrote training.html: \d updates of csp, \d updates of a-wm\n", message)
    assert refused("explain-update", names, "--html", "training.html", "--epoch", 2).startswith(
        "--html plays a training"
    )


def test_a_browser_steps_through_the_updates(page):
    sync = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab, problems = browser.new_page(viewport={"width": 380, "height": 800}), []
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        tab.goto(page.as_uri())
        for _ in range(3):
            tab.keyboard.press("ArrowRight")
        assert tab.inner_text("#where") == "mistake 4 of 7"
        assert "no mistake left" in tab.inner_text("#runs")
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert problems == []
        browser.close()
