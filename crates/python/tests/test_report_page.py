"""The HTML page in a real browser: what it shows, what it fetches, how it is used, and whether everyone can read it.

Needs Chromium with its driver and selenium; skips where they are missing and says how to get them.
"""

import json
import pathlib
import shutil
import subprocess
import time

import misdeal
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
DRIVER = shutil.which("chromedriver")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "a browser is missing: apt-get install chromium chromium-driver, and pip install selenium"


@pytest.fixture(scope="module")
def pages(tmp_path_factory, command):
    """A page of each kind, by name."""
    folder = tmp_path_factory.mktemp("pages")
    logs = ROOT / "testdata" / "diagnose"
    audit = misdeal.audit_mechanism(scheme="fixed-order", observations=1e5, trade_off=True, quiet=True)
    safe = misdeal.audit_mechanism(scheme="poisson", observations=1e5, quiet=True)
    diagnosis = misdeal.diagnose(logs / "webdataset-full-buffer.jsonl", noise_multiplier=1)
    paper = folder / "paper.json"
    paper.write_text(command("reproduce", "figure-5", "--quick", "--quiet", "--format", "json"))
    results = {"audit": audit, "comparison": [audit, safe, diagnosis, paper], "diagnosis": diagnosis, "paper": paper}
    return {name: misdeal.report(result, folder / f"{name}.html") for name, result in results.items()}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Opens pages in a browser of its own; a light one, or a dark one."""
    webdriver = pytest.importorskip("selenium.webdriver", reason=MISSING)
    if not (DRIVER and BROWSER):
        pytest.skip(MISSING)
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    profile = tmp_path_factory.mktemp("profile")
    for flag in (
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={profile}",
    ):  # fmt: skip
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def wait_until_complete(browser, page):
    """Waits for the page to be there and its script to have run: on a busy machine the driver's `get` returns before."""
    deadline = time.monotonic() + 60
    state = None
    while state != [page.as_uri(), "complete"]:
        assert time.monotonic() < deadline, f"the page is still at {state}"
        state = browser.execute_script("return [location.href, document.readyState]")


def opened(browser, page, dark=False, width=1200):
    """The page, drawn; nothing may go wrong, and nothing be fetched."""
    browser.set_window_size(width, 1000)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    browser.get_log("performance"), browser.get_log("browser")
    browser.get(page.as_uri())
    wait_until_complete(browser, page)
    assert browser.find_elements("css selector", "figure.chart svg.plot"), "no chart was drawn"
    assert [entry["message"] for entry in browser.get_log("browser")] == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    fetched = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert fetched == [page.as_uri()]
    return browser


def chart(browser, title):
    """The figure with a title."""
    return next(f for f in browser.find_elements("css selector", "figure.chart") if f.find_element("tag name", "h3").text == title)


def ticks(figure):
    return [text.text for text in figure.find_elements("css selector", "svg.plot > text")]


def hover(browser, element, x=0, y=0):
    from selenium.webdriver import ActionChains

    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
    ActionChains(browser).move_to_element_with_offset(element, x, y).perform()


@pytest.mark.parametrize("name", ["audit", "comparison", "diagnosis", "paper"])
@pytest.mark.parametrize("width", [1200, 400])
def test_opens_without_errors_and_fits_its_window(browser, pages, name, width):
    opened(browser, pages[name], width=width)
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth + 1"), "scrolls sideways"
    drawn = browser.execute_script(
        "return [...document.querySelectorAll('svg.plot')].map(svg => [svg.querySelectorAll('path, rect, circle').length, svg.clientHeight])"
    )
    assert all(marks > 5 and height > 90 for marks, height in drawn), drawn
    # No text of a chart leaves its figure.
    cut = browser.execute_script(
        "return [...document.querySelectorAll('svg.plot text')].filter(text => { const box = text.getBoundingClientRect(),"
        " frame = text.closest('figure').getBoundingClientRect(); return box.left < frame.left - 2 || box.right > frame.right + 2; })"
        ".map(text => text.textContent)"
    )
    assert cut == []


def test_hovering_tells_the_number(browser, pages):
    opened(browser, pages["audit"])
    figure = chart(browser, "Epsilon: claimed, found, known")
    tip = figure.find_element("css selector", ".tip")
    assert not tip.is_displayed()
    hover(browser, figure.find_element("css selector", "g[data-series='claimed'] path"))
    assert tip.is_displayed() and tip.text == "claimed\nclaimed: 0.7181"
    hover(browser, figure.find_element("tag name", "h3"))
    assert not tip.is_displayed()
    scores = chart(browser, "Scores in both worlds")
    hover(browser, scores.find_element("css selector", "svg.plot"))
    told = scores.find_element("css selector", ".tip").text
    assert "without the record: " in told and "with the record: " in told, told


def test_zoom_reset_and_logarithms(browser, pages):
    from selenium.webdriver import ActionChains

    opened(browser, pages["audit"])
    figure = chart(browser, "Errors of the adversary")
    plot, whole = figure.find_element("css selector", "svg.plot"), ticks(figure)
    click = lambda name: browser.execute_script("arguments[0].click()", figure.find_element("css selector", name))
    hover(browser, plot, -50, -50)
    ActionChains(browser).click_and_hold().move_by_offset(100, 90).release().perform()
    dragged = ticks(figure)
    assert dragged != whole
    click(".reset")
    assert ticks(figure) == whole
    click(".zoom-in")
    zoomed = ticks(figure)
    assert zoomed != whole
    click(".zoom-out")
    assert ticks(figure) == whole
    toggle = figure.find_element("css selector", ".log-x")
    assert toggle.get_attribute("aria-pressed") == "false"
    click(".log-x")
    assert toggle.get_attribute("aria-pressed") == "true" and ticks(figure) != whole
    assert any("10⁻" in tick for tick in ticks(figure)), ticks(figure)
    click(".log-x")
    assert ticks(figure) == whole
    lines = lambda: len(figure.find_elements("css selector", "g[data-series]"))
    before = lines()
    click(".legend button:last-child")
    assert lines() == before - 1


def test_keys_do_what_the_mouse_does(browser, pages):
    from selenium.webdriver import Keys

    opened(browser, pages["audit"])
    figure = chart(browser, "Errors of the adversary")
    plot, whole = figure.find_element("css selector", "svg.plot"), ticks(figure)
    reached = set()
    body = browser.find_element("tag name", "body")
    for _ in range(60):
        browser.switch_to.active_element.send_keys(Keys.TAB) if reached else body.send_keys(Keys.TAB)
        active = browser.switch_to.active_element
        reached.add(active.get_attribute("class") or active.tag_name)
        if active == plot:
            break
    assert browser.switch_to.active_element == plot, reached
    outline = browser.execute_script("return getComputedStyle(arguments[0]).outlineStyle", plot)
    assert outline == "solid"
    plot.send_keys(Keys.ARROW_RIGHT)
    status = figure.find_element("css selector", "[role=status]")
    first = status.get_attribute("textContent")
    assert "false-positive rate" in first and figure.find_element("css selector", ".tip").is_displayed()
    plot.send_keys(Keys.ARROW_RIGHT)
    assert status.get_attribute("textContent") != first
    plot.send_keys(Keys.ARROW_DOWN)
    assert "Poisson sampling" in status.get_attribute("textContent")
    plot.send_keys("+")
    assert ticks(figure) != whole
    plot.send_keys("0")
    assert ticks(figure) == whole
    plot.send_keys("x")
    assert "logarithmic" in status.get_attribute("textContent") and ticks(figure) != whole


@pytest.mark.parametrize("name", ["audit", "comparison"])
def test_everything_has_a_name_and_tables_hold_the_same_numbers(browser, pages, name):
    opened(browser, pages[name])
    nameless = browser.execute_script(
        "return [...document.querySelectorAll('svg')].filter(svg => !svg.getAttribute('role') || !svg.getAttribute('aria-label')).length"
    )
    assert nameless == 0
    browser.execute_script("for (const details of document.querySelectorAll('details')) details.open = true")
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        counts = browser.execute_script(
            "return [...document.querySelectorAll('figure.chart')].map(figure => [figure.querySelectorAll('tbody tr').length,"
            " JSON.parse(figure.querySelector('script').textContent).series.reduce((sum, series) => sum + series.points.length, 0)])"
        )
        if all(rows == points for rows, points in counts):
            break
    assert all(rows == points > 0 for rows, points in counts), counts
    assert browser.execute_script("return [...document.querySelectorAll('th')].filter(th => !th.scope).length") == 0
    assert browser.execute_script("return [...document.querySelectorAll('table')].filter(table => !table.caption).length") == 0
    ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))
    assert browser.execute_script("return document.querySelectorAll('h1').length") == 1
    assert browser.execute_script("return document.documentElement.lang") == "en"


CONTRAST = """
const channel = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const colour = text => text.match(/[\\d.]+/g).map(Number);
const ground = element => {
  for (; element; element = element.parentElement) {
    const c = colour(getComputedStyle(element).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c;
  }
  return [255, 255, 255];
};
const worst = {};
for (const element of document.querySelectorAll('body *')) {
  const text = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  if (!text || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(element.tagName)) continue;
  const style = getComputedStyle(element), svg = element.namespaceURI.endsWith('svg');
  const [one, other] = [luminance(colour(svg ? style.fill : style.color)), luminance(ground(element))];
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  const name = element.tagName + '.' + (element.getAttribute('class') ?? '');
  worst[name] = Math.min(worst[name] ?? 99, ratio);
}
return worst;
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["audit", "comparison"])
def test_text_has_contrast(browser, pages, name, dark):
    opened(browser, pages[name], dark=dark)
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") != dark, paper
    worst = browser.execute_script(CONTRAST)
    assert len(worst) > 15 and min(worst.values()) >= 4.5, sorted(worst.items(), key=lambda item: item[1])[:5]


def test_names_from_documents_run_nothing(browser, tmp_path):
    evil = "</script><script>document.title = 'run'</script><svg onload=\"document.title = 'run'\">"
    found = misdeal.audit_mechanism(scheme="fixed-order", observations=1e5, trade_off=True, quiet=True).to_dict()
    found["store"] = found["guarantee"] = found["trade_off"]["promised"][0]["name"] = evil
    found["theory"]["poisson"]["method"] = evil
    result = tmp_path / "<b onmouseover=alert(1)>.json"
    result.write_text(json.dumps(found))
    opened(browser, misdeal.report(result, tmp_path / "page.html"))
    browser.execute_script("for (const details of document.querySelectorAll('details')) details.open = true")
    assert browser.title.endswith("misdeal")
    assert browser.execute_script("return document.scripts.length - document.querySelectorAll('figure.chart').length") == 1
    assert browser.find_elements("css selector", "b[onmouseover], svg[onload]") == []


@pytest.mark.parametrize("extremes", [(1e300, 3.0), (1.7e308, 1e-320), (1e-310, 1e-310), (1e17, 1e17 + 16)])
def test_extreme_numbers_hang_no_page(browser, tmp_path, extremes):
    found = misdeal.audit_mechanism(scheme="fixed-order", observations=1e5, quiet=True).to_dict()
    found["claimed_epsilon"], found["empirical_epsilon"] = extremes
    found["theory"], found["raw_epsilon"] = {}, None
    result = tmp_path / "result.json"
    result.write_text(json.dumps(found))
    browser.set_page_load_timeout(30)
    opened(browser, misdeal.report(result, tmp_path / "page.html"))
    figure = chart(browser, "Epsilon: claimed, found, known")
    for _ in range(2):
        for button in ("log-x", "zoom-in", "zoom-out", "reset"):
            for found in figure.find_elements("css selector", f".{button}"):
                browser.execute_script("arguments[0].click()", found)
            assert len(ticks(figure)) < 40
    assert [entry["message"] for entry in browser.get_log("browser")] == []
    assert "NaN" not in figure.get_attribute("innerHTML")


def test_a_chart_that_cannot_be_drawn_leaves_the_others_alone(browser, pages, tmp_path):
    page = tmp_path / "page.html"
    broken = pages["audit"].read_text().replace('<script type="application/json">{', '<script type="application/json">{{', 1)
    page.write_text(broken)
    charts = opened(browser, page).find_elements("css selector", "figure.chart")
    drawn = [len(figure.find_elements("css selector", "svg.plot")) for figure in charts]
    assert drawn == [0] + [1] * (len(charts) - 1)
    assert "This chart cannot be drawn." in charts[0].text


def test_many_values_are_drawn(browser, pages, tmp_path):
    start, end = '<script type="application/json">', "</script>"
    before, rest = pages["audit"].read_text().split(start, 1)
    data, after = rest.split(end, 1)
    many = json.loads(data)
    many["series"] = [
        {"name": "many", "role": "found", "draw": "line", "points": [[1 + i % 1000, i % 2] for i in range(200_000)]},
    ]
    many["y"] = {"label": "y", "log": False}
    page = tmp_path / "page.html"
    page.write_text(before + start + json.dumps(many) + end + after)
    opened(browser, page)
    assert len(browser.find_elements("css selector", "g[data-series='many'] path")) == 1


def test_a_page_replaces_no_result(tmp_path):
    result = tmp_path / "result.json"
    result.write_text(misdeal.calibrate(target_epsilon=3).to_json())
    before = result.read_bytes()
    (tmp_path / "link.json").symlink_to(result)
    for output in (result, tmp_path / "link.json", tmp_path / "." / "result.json"):
        with pytest.raises(ValueError, match="would replace the result"):
            misdeal.report(result, output)
    assert result.read_bytes() == before


def test_the_ending_chooses_between_page_and_figure(tmp_path):
    found = misdeal.account(scheme="shuffle")
    assert misdeal.report(found, tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert misdeal.report(found, tmp_path / "figure.svg").read_text().startswith("<svg")
    assert misdeal.report(found, tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    for refused in ("figure.pdf", "figure"):
        with pytest.raises(ValueError, match="ends in .html, .svg or .png"):
            misdeal.report(found, tmp_path / refused)
    with pytest.raises(ValueError, match="a drawing shows one result"):
        misdeal.report([found, found], tmp_path / "figure.svg")


def test_prints_on_few_sheets_in_light_colours(browser, pages, tmp_path):
    import base64

    opened(browser, pages["audit"], dark=True)
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"])
    assert printed.startswith(b"%PDF") and 2 <= printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") <= 8
    if shutil.which("pdftotext"):
        (tmp_path / "page.pdf").write_bytes(printed)
        text = subprocess.run(["pdftotext", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True).stdout
        assert "Claim refuted" in text and "Run it again" in text and "log axis" not in text
