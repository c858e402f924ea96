"""The pages in a real browser: what people type, click and see, at the width of a phone, in the dark, in trouble."""

import json
import re
import shutil
import socket
import threading
import time
from urllib.parse import urlencode

import pytest

from helpers.garden import DEV
from swvp.serving.limits import Limits

sync = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install 'swvp[dev]'")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")

TEXT = "The old cat sleeps. Carla doesn't see a dog."
BUSY = {"status": 429, "headers": {"Retry-After": "1"}, "json": {"error": "too much work"}}


@pytest.fixture(scope="module")
def address(models):
    """The address of a server of the models, which takes 20,000 bytes."""
    import uvicorn

    from swvp.serving.app import create_app

    app = create_app(models, limits=Limits(bytes=20_000), log=None)
    opened = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, args=([opened],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{opened.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def browser():
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, address):
    """Open a page, with fields behind #.

    The test fails if the browser reports an error, such as one of the content security policy, or if the server sends a
    status of an error that is not expected.
    """
    problems, answers, contexts = [], [], []

    def visit(path="/", *, width=1200, dark=False, expected=(), prepare=None, **fields):
        viewport, scheme = {"width": width, "height": 800}, "dark" if dark else "light"
        context = browser.new_context(viewport=viewport, color_scheme=scheme, accept_downloads=True)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("dialog", lambda dialog: problems.append(dialog.message))
        tab.on("console", lambda message: problems.append(message.text) if is_problem(message) else None)
        tab.on("response", lambda answer: answers.append(answer) if answer.status not in (200, *expected) else None)
        if prepare is not None:
            prepare(tab)
        tab.goto(f"{address}{path}" + (f"#{urlencode(fields)}" if fields else ""))
        return tab

    yield visit
    problems += [f"{answer.status} {answer.url} {answer.text()}" for answer in answers]
    for context in contexts:
        context.close()
    assert problems == []


def is_problem(message):
    """Whether a message in the console is an error; failed requests are counted by their status."""
    return message.type == "error" and not message.text.startswith("Failed to load resource")


def test_text_is_parsed_as_it_is_typed(visit):
    tab = visit()
    tab.locator("#sentences article").first.wait_for()  # the example of the model
    tab.fill("#text", "")
    tab.locator("#text").press_sequentially(TEXT)
    tab.locator("#sentences article").nth(1).wait_for()
    words = [node.text_content() for node in tab.query_selector_all("svg.tree .form")]
    assert words == ["The", "old", "cat", "sleeps", ".", "Carla", "does", "n't", "see", "a", "dog", "."]
    assert [node.text_content() for node in tab.query_selector_all("svg.tree .group text")] == ["doesn't"]
    assert re.match(r"2 sentences · 12 words · \d+ ms$", tab.inner_text("#summary"))


def test_an_answer_to_an_older_text_is_not_shown(visit):
    tab = visit(text="Ann sleeps.")
    tab.locator("svg.tree").wait_for()
    late = []

    def hold(route):
        if json.loads(route.request.post_data).get("text") == "Bob":
            late.append(route)
        else:
            route.continue_()

    tab.route("**/analyze", hold)
    tab.fill("#text", "Bob")
    tab.wait_for_timeout(400)
    tab.fill("#text", "Bob sleeps.")
    tab.locator("article p.text", has_text="Bob sleeps.").wait_for()
    assert len(late) == 1
    assert late[0].request.failure == "net::ERR_ABORTED"


def test_a_click_on_an_arc_shows_the_features_that_decided_it(visit):
    tab = visit(text="the dog barks .", model="trees")
    tab.locator("svg.tree .arc .hit").first.dispatch_event("click")
    tab.locator(".weights tr").first.wait_for()
    assert tab.inner_text(".question").startswith("Why does the have the head ")
    assert tab.locator(".weights .bar").count() == tab.locator(".weights tr").count() <= 12
    tab.locator("svg.tree .word.chosen").click()
    assert tab.locator(".explanation").count() == 0


def test_lemmas_are_explained_beside_heads(visit):
    tab = visit(text="The old cat sleeps.")
    tab.locator("svg.tree .word").nth(2).click()
    tab.get_by_text("Why does cat have the head 4 sleeps").wait_for()
    tab.get_by_role("button", name="Lemma", exact=True).click()
    tab.get_by_text("Why does cat have the lemma cat").wait_for()


def test_words_are_reached_and_explained_with_the_keyboard(visit):
    tab = visit(text="The old cat sleeps.")
    tab.locator("svg.tree .word").first.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        tab.keyboard.press(key)  # old, cat, and the head of cat
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')").startswith("4: sleeps, VERB, root")
    tab.keyboard.press("Enter")
    tab.get_by_text("Why does sleeps have the head").wait_for()
    tab.locator(".explanation button").last.press("Escape")
    assert tab.locator(".explanation").count() == 0
    assert tab.evaluate("document.activeElement.dataset.word") == "4"


def test_another_model_shows_names_as_spans(visit):
    tab = visit(text="Bo Lee works for Acme in Paris .")
    tab.locator("svg.tree").wait_for()
    tab.select_option("#model", "names")
    tab.locator(".phrase").first.wait_for()
    phrases = [re.sub(r"\s+", " ", node.inner_text()).strip() for node in tab.query_selector_all(".phrase")]
    assert phrases == ["Bo Lee PER", "Acme ORG", "Paris LOC"]
    tab.locator("button.word").nth(1).click()
    tab.get_by_text("Why does Lee have the label I-PER").wait_for()


def test_other_analyses_and_confidence_are_one_click_away(visit):
    tab = visit(text="the dog sees a cat .", model="trees")
    tab.click("#confidence")
    tab.locator(".doubt").first.wait_for()
    assert tab.locator(".share").first.text_content().endswith("%")
    tab.click("#k-best")
    tab.locator(".ranks button").nth(1).wait_for()
    heads = "[...document.querySelectorAll('svg.tree .arc')].map(arc => arc.dataset.head).join()"
    best = tab.evaluate(heads)
    tab.locator(".ranks button").nth(1).click()
    assert tab.evaluate(heads) != best


def test_gold_is_shown_beside_what_is_predicted(visit):
    given = DEV.read_text(encoding="utf-8").split("\n\n")[1] + "\n\n"
    wrong = given.replace("	Number=Sing	3	", "	Number=Sing	1	")
    tab = visit()
    tab.fill("#text", wrong)
    tab.locator(".score").first.wait_for()
    assert "UAS" in tab.inner_text(".score")
    assert tab.locator(".arc.missed").count() == tab.locator(".arc.missing-gold").count() > 0
    tab.locator("summary", has_text="Table").click()
    tab.get_by_role("columnheader", name="Gold head").wait_for()


def test_a_text_that_is_too_long_gets_a_friendly_error(visit):
    tab = visit()
    tab.fill("#text", "word " * 5000)
    tab.locator(".notice.error").wait_for()
    assert tab.inner_text(".notice.error").startswith(
        "The text is too long: it has 25,000 bytes, and this server takes at most"
    )
    tab.fill("#text", "Ann sleeps.")
    tab.locator("svg.tree").wait_for()
    assert tab.locator(".notice").count() == 1  # the hidden field for a token


def test_a_busy_server_is_asked_again_once(visit):
    tab = visit(text="Ann sleeps.", expected=[429])
    tab.locator("svg.tree").wait_for()
    asked = []

    def refuse_once(route):
        asked.append(time.monotonic())
        route.fulfill(**BUSY) if len(asked) == 1 else route.continue_()

    tab.route("**/analyze", refuse_once)
    tab.fill("#text", "Bob sleeps.")
    tab.get_by_text("The server is busy; trying again in 1 second.").wait_for()
    tab.locator("article p.text", has_text="Bob sleeps.").wait_for()
    assert asked[1] - asked[0] >= 1


def test_a_server_that_is_gone_can_be_tried_again(visit):
    tab = visit(text="Ann sleeps.")
    tab.locator("svg.tree").wait_for()
    tab.route("**/analyze", lambda route: route.abort())
    tab.fill("#text", "Bob sleeps.")
    tab.get_by_text("The server does not answer.").wait_for()
    tab.unroute("**/analyze")
    tab.get_by_role("button", name="Try again").click()
    tab.locator("svg.tree").wait_for()


def test_a_token_is_asked_for_and_sent(visit):
    sent = []

    def check(route):
        sent.append(route.request.headers.get("authorization"))
        route.fulfill(status=401, json={"error": "a token is needed"}) if sent[
            -1
        ] != "Bearer s3cret" else route.continue_()

    tab = visit(expected=[401], prepare=lambda tab: tab.route("**/api/v1/**", check))
    tab.fill("#token", "s3cret")
    tab.keyboard.press("Enter")
    tab.locator("svg.tree").wait_for()
    assert sent[0] is None


def test_markup_in_a_text_is_text(visit):
    tab = visit(text="<script>alert(1)</script> <img/src=x> sleeps .", input="horizontal")
    tab.locator("svg.tree").wait_for()
    assert tab.locator("svg.tree .form").nth(0).text_content() == "<script>alert(1)</script>"
    assert tab.locator("#sentences img, #sentences script").count() == 0
    tab.locator("svg.tree .word").nth(0).click()
    tab.get_by_text("Why does <script>alert(1)</script> have").wait_for()


def test_a_text_from_right_to_left_has_a_mirrored_tree(visit):
    tab = visit(text="הילד הלך לבית הספר", model="trees")
    tab.locator("svg.tree").wait_for()
    first, last = (float(tab.locator("svg.tree .form").nth(k).get_attribute("x")) for k in (0, 3))
    assert first > last
    assert tab.locator("#sentences .scroll").first.get_attribute("dir") == "rtl"


def test_a_long_sentence_scrolls_and_zooms(visit):
    tab = visit(text=" ".join(["the old cat sees a dog"] * 10), input="horizontal")
    tab.locator("svg.tree").wait_for()
    width = "document.querySelector('#sentences .scroll').scrollWidth"
    natural = tab.evaluate(width)
    assert natural > 2000
    tab.click("#smaller")
    assert tab.evaluate(width) < 0.9 * natural
    assert tab.inner_text("#natural") == "80 %"


def test_a_tree_is_saved_as_svg_and_png_and_all_as_conllu_and_json(visit):
    tab = visit(text=TEXT)
    tab.locator("svg.tree").first.wait_for()
    files = {}
    for name, button in (("svg", "SVG"), ("png", "PNG"), ("conllu", "CoNLL-U"), ("json", "JSON")):
        with tab.expect_download() as download:
            tab.get_by_role("button", name=button, exact=True).first.click()
        files[name] = download.value.path().read_bytes()
        assert download.value.suggested_filename.endswith(f".{name}")
    assert files["svg"].startswith(b"<svg")
    assert b"sleeps" in files["svg"]
    assert b"var(" not in files["svg"]
    assert files["png"].startswith(b"\x89PNG")
    assert b"4\tsleeps\tsleep\tVERB" in files["conllu"]
    assert [sentence["id"] for sentence in json.loads(files["json"])["sentences"]] == [1, 2]


def test_a_link_holds_the_text_and_the_model(visit):
    tab = visit(text="Bo Lee left .", model="names")
    tab.locator(".phrase").wait_for()
    again = visit("/" + tab.evaluate("location.hash"))
    again.locator(".phrase").wait_for()
    assert again.input_value("#text") == "Bo Lee left ."
    assert again.input_value("#model") == "names"


@pytest.mark.parametrize("path", ["/", "/learn"])
def test_a_phone_shows_all_without_scrolling_sideways(visit, path):
    tab = visit(path, width=360)
    tab.locator("svg.tree").first.wait_for()
    if path == "/":
        tab.locator("svg.tree .word").nth(1).click()
        tab.locator(".explanation").wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_dark_colours_follow_the_system_and_the_button(visit):
    ground = "getComputedStyle(document.body).backgroundColor"
    tab = visit(dark=True)
    tab.locator("svg.tree").first.wait_for()
    dark = tab.evaluate(ground)
    assert tab.get_attribute("#theme", "aria-pressed") == "true"
    tab.click("#theme")
    light = tab.evaluate(ground)
    assert sum(map(int, re.findall(r"\d+", dark))) < 150 < 600 < sum(map(int, re.findall(r"\d+", light)))
    tab.reload()
    assert tab.evaluate(ground) == light


@pytest.mark.parametrize("path", ["/", "/learn"])
def test_every_control_has_a_name(visit, path):
    tab = visit(path)
    tab.locator("svg.tree").first.wait_for()
    nameless = tab.evaluate("""() => [...document.querySelectorAll("a, button, input, select, textarea, [role=button]")]
        .filter(node => !(node.ariaLabel || node.labels?.length || node.textContent.trim()))
        .map(node => node.outerHTML)""")
    assert nameless == []


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_enough_contrast(visit, dark):
    tab = visit(dark=dark)
    texts, grounds = ["text", "quiet", "accent", "accent-strong", "wrong", "gold"], ["ground", "card", "sunken"]
    pairs = [(text, ground) for text in texts for ground in grounds]
    pairs += [(text, f"{text}-soft") for text in ("wrong", "gold")]
    pairs += [("accent-strong", "accent-soft"), ("on-accent", "accent"), ("text", "wrong-soft")]
    script = """pairs => pairs.map(pair => pair.map(name => {
        const node = document.body.appendChild(document.createElement('i'));
        node.style.color = `var(--${name})`;
        return getComputedStyle(node).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
    }))"""
    weak = [pair for pair, colours in zip(pairs, tab.evaluate(script, pairs), strict=True) if contrast(*colours) < 4.5]
    assert weak == []


def contrast(*colours):
    """The contrast of two colours by WCAG 2."""
    linear = [[c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour] for colour in colours]
    dark, light = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in linear)
    return (light + 0.05) / (dark + 0.05)


def test_a_training_is_stepped_through_and_played(visit):
    tab = visit("/learn")
    tab.locator("#runs section").nth(1).wait_for()
    assert tab.inner_text("#where") == "mistake 1 of 4"
    assert "1 update so far; no bound" in tab.inner_text("#runs")
    assert tab.locator("svg.tree .missing-gold").count() == 10
    tab.click("#next")
    assert tab.inner_text("#where") == "mistake 2 of 4"
    tab.click("#play")
    tab.get_by_text("mistake 3 of 4").wait_for()


def test_two_dimensions_have_a_cone_and_a_bound(visit):
    tab = visit("/learn")
    tab.select_option("#data", "two-dimensions")
    tab.locator("svg.plane .cone").nth(1).wait_for()
    assert "Theorem 1 allows at most 106" in tab.inner_text("#runs")
    tab.fill("#beta", "3")
    tab.get_by_text("β = 3").wait_for()


def test_a_training_on_own_sentences_shows_errors_of_the_data(visit):
    tab = visit("/learn", expected=[400])
    tab.select_option("#data", "column")
    tab.locator(".sequence .differs").first.wait_for()
    tab.fill("#sentences", "Ann B-PER\nsaw\n")
    tab.locator(".notice.error").wait_for()
    tab.select_option("#data", "conllu")
    tab.locator("svg.tree").first.wait_for()
