"""Write the pictures of the pages; needs Playwright and Chromium: `python docs/figures/make_screenshots.py`."""

import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from swvp import Pipeline

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
ADDRESS = "http://127.0.0.1:8799"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "garden.swvp"
        Pipeline.train(DATA / "garden-ud-train.conllu", DATA / "garden-ud-dev.conllu").save(model)
        server = subprocess.Popen(
            [sys.executable, "-m", "swvp", "serve", str(model), "--port", "8799", "--no-access-log"]
        )
        try:
            wait_for_server()
            take_screenshots()
        finally:
            server.terminate()
            server.wait()


def wait_for_server() -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{ADDRESS}/health")
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the server did not start")


def take_screenshots() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1040, "height": 880})
        tab.goto(f"{ADDRESS}/#text=The+old+cat+sleeps.+Carla+doesn't+see+a+dog.")
        save(tab, "page.png")
        tab.goto(f"{ADDRESS}/learn")
        tab.locator("#title").scroll_into_view_if_needed()
        tab.set_viewport_size({"width": 1040, "height": 1100})
        save(tab, "learn.png")
        browser.close()


def save(tab: Page, name: str) -> None:
    tab.locator("svg.tree").nth(1).wait_for()
    tab.screenshot(path=HERE / name)


if __name__ == "__main__":
    main()
