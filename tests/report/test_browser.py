"""The report in headless Chromium, opened from a file with the network off.

Debian's packages chromium and chromium-driver.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memrepro.report.markup import Markup, tag
from memrepro.report.page import page

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER), reason="needs chromium and chromium-driver (apt)"
    ),
]
HOSTILE = "</script><img src=x onerror=document.title='broken'> & \u2028 <b>bold</b>"
DESKTOP, PHONE = (1280, 900), (390, 800)
MANY = 10_000


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1280,900",
        f"--user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):  # fmt: skip
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_page_load_timeout(120)
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd(
        "Network.emulateNetworkConditions",
        {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
    )
    yield driver
    driver.quit()


class Report:
    """A report in the browser: what a reader does with it, and what they see."""

    def __init__(self, driver: Any, file: Path, size: tuple[int, int] = DESKTOP) -> None:
        self.driver = driver
        width, height = size
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE},
        )
        self.media("light")
        driver.get("about:blank")
        driver.get(file.as_uri())

    def media(self, scheme: str, kind: str = "screen") -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": kind, "features": [feature]}
        )

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(f"return {script}", *arguments)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def choose(self, **filters: str) -> None:
        from selenium.webdriver.support.ui import Select

        for name, value in filters.items():
            if value:
                Select(self.one(f"#{name.replace('_', '-')}")).select_by_value(value)

    def open(self, row: Any) -> None:
        """Open an item and wait for its body, which is built when it is first opened."""
        row.find_element("css selector", "summary").click()
        self.wait(lambda: row.find_elements("css selector", ".body"))

    def wait(self, reached: Callable[[], Any]) -> None:
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 60).until(lambda _: reached())

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    @property
    def status(self) -> str:
        return str(self.one("#status").text)

    @property
    def overflow(self) -> int:
        """How many pixels the page is wider than the window."""
        return int(self.run("document.documentElement.scrollWidth - window.innerWidth"))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of so many generated items, the texts of some of them hostile."""
    tasks = {
        number: {
            "fact": f"Fact {number} {HOSTILE}", "reply": "Noted.", "naive": "Which?",
            "indirect": f"Question {number} {HOSTILE}", "domain": "d", "explanation": "e",
        }
        for number in range(100)
    }  # fmt: skip
    turns = [f"Before.\n{task['fact']}\nAfter." for task in tasks.values()]
    items = [
        {
            "s": f"system_{number % 10}", "t": number // 10 % 100,
            "o": ("won", "lost", "error")[number % 3],
            "c": {"indirect": {"n": 4, "shown": [number // 10 % 100, -3], "sha256": "0",
                               "target": [number // 10 % 100]}},
        }
        for number in range(MANY)
    ]  # fmt: skip
    data = {"grids": [], "items": {"inmind": {"tasks": tasks, "turns": turns, "items": items}}}
    path = tmp_path_factory.mktemp("many") / "many.html"
    body = tag("main", Markup('<section id="items"><div id="browser"></div></section>'))
    path.write_text(page("generated", body, data), encoding="utf-8")
    return path


def test_a_lost_item_is_found_and_its_context_read(chromium: Any, file: Path) -> None:
    report = Report(chromium, file)
    report.choose(filter_benchmark="inmind", filter_system="bm25", filter_outcome="lost")
    assert report.status.startswith("1–22 of 22 items (22 lost)")
    rows = report.all("#list > li")
    assert len(rows) == 22 and all("lost" in row.text and "bm25" in row.text for row in rows)
    report.open(rows[0])
    contexts = rows[0].find_elements("css selector", ".context")
    assert len(contexts) == 2 and contexts[0].is_displayed()
    assert "Context: 5 items, without the target" in contexts[0].text
    assert contexts[0].find_elements("css selector", ".text")[0].text
    direct = contexts[1].find_element("css selector", "mark")
    assert direct.text == "The hob in our new place is an induction one."
    assert "Verdicts" in rows[0].text and "target recall verbatim" in rows[0].text
    assert report.errors() == []
    assert report.run("performance.getEntriesByType('resource').map((one) => one.name)") == []


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        (("cimemories", "guarded", "", "lost"),
         ("Recipient and task", "Necessary, and missing", "Context: ")),
        (("cimemories", "", "model, level 1", "error"),
         ("Message, trial ", "Call: ", "not judged")),
        (("retention", "", "standard · deterministic", "lost"),
         ("Policy", "Decision", "kept, decided by rules; expected: drop", "not blocked")),
        (("retention", "", "standard · llm", ""), ("Guard's call: ", "Reason")),
        (("inmind", "full_context", "", ""),
         ("more not shown", "the target is among them", "target")),
    ],
)  # fmt: skip
def test_an_item_of_each_kind_opens(
    chromium: Any, file: Path, filters: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    report = Report(chromium, file)
    names = ("filter_benchmark", "filter_system", "filter_run", "filter_outcome")
    report.choose(**dict(zip(names, filters, strict=True)))
    row = report.all("#list > li")[0]
    report.open(row)
    for text in wanted:
        assert text in row.text
    assert report.errors() == []


def test_the_grid_changes_with_its_run(chromium: Any, file: Path) -> None:
    report = Report(chromium, file)
    before = [cell.text for cell in report.all(".grid td")]
    assert len(before) == 144 and "8/8" in before
    report.choose(grid_run="1")
    cells = [cell.text for cell in report.all(".grid td")]
    assert cells != before and report.errors() == []


def test_the_keyboard_reaches_and_opens_an_item(chromium: Any, file: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    report = Report(chromium, file)
    report.press(Keys.TAB)
    assert report.run("document.activeElement.className") == "skip"
    report.run("document.getElementById('filter-text').focus()")
    report.press("induction")
    assert report.status.startswith("1–2 of 2 items")  # a task of two systems, by its fact
    reached = []
    for _ in range(6):
        report.press(Keys.TAB)
        reached.append(report.run("document.activeElement.tagName"))
        if reached[-1] == "SUMMARY":
            break
    assert reached[-1] == "SUMMARY"
    width = "getComputedStyle(document.activeElement).outlineWidth"
    assert report.run(width) == "3px"
    report.press(Keys.ENTER)
    assert report.run("document.activeElement.parentElement.open") is True
    report.press(Keys.END)
    last = report.all("#list > li > details > summary")[-1]
    assert report.run("document.activeElement === arguments[0]", last)
    report.press(Keys.HOME, Keys.ARROW_DOWN)
    second = report.all("#list > li > details > summary")[1]
    assert report.run("document.activeElement === arguments[0]", second)


def test_every_control_has_a_name(chromium: Any, file: Path) -> None:
    report = Report(chromium, file)
    controls = report.all("select, input, button, [role=region]")
    shown = [control for control in controls if control.is_displayed()]
    assert len(shown) > 12 and all(control.accessible_name for control in shown)
    ids = report.run("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    assert report.one("#status").get_attribute("aria-live") == "polite"
    assert all(image.get_attribute("aria-label") for image in report.all("svg"))
    assert len(report.all("h1")) == 1


def test_ten_thousand_items_stay_usable(chromium: Any, many: Path) -> None:
    """Only a page of them is in the document, and texts that look like markup stay texts."""
    report = Report(chromium, many)
    assert "of 10,000 items" in report.status
    assert len(report.all("#list > li")) == 50
    report.one("#next").click()
    assert report.status.startswith("51–100 of 10,000")
    report.choose(filter_system="system_3", filter_outcome="lost")
    assert "of 333 items (333 lost)" in report.status
    row = report.all("#list > li")[0]
    assert HOSTILE.replace("\u2028", "").split("<")[1] in row.text.replace("\u2028", "")
    report.open(row)
    assert row.find_element("css selector", "mark").text.startswith("Fact ")
    assert not report.all("#list img, #list b") and chromium.title == "memrepro: generated"
    assert len(report.all("#list > li")) == 50 and report.errors() == []


def test_a_phone_scrolls_in_one_direction(chromium: Any, file: Path) -> None:
    report = Report(chromium, file, PHONE)
    assert report.overflow <= 0
    for benchmark in ("inmind", "cimemories", "retention"):
        report.choose(filter_benchmark=benchmark)
        for summary in report.all("#list > li > details > summary")[:3]:
            report.run("arguments[0].click()", summary)
        report.wait(lambda: len(report.all("#list .body")) == 3)
        assert report.overflow <= 0
    for block in report.all("main > section details"):
        report.run("arguments[0].open = true", block)
    assert report.overflow <= 0
    figures = [figure.rect for figure in report.all("figure")]
    assert len(figures) > 3 and len({round(rect["x"]) for rect in figures}) == 1
    assert all(rect["x"] + rect["width"] <= PHONE[0] for rect in figures)


def test_dark_and_print_have_colours_of_their_own(chromium: Any, file: Path) -> None:
    report = Report(chromium, file)
    paper = "getComputedStyle(document.body).backgroundColor"
    assert report.run(paper) == "rgb(255, 255, 255)"
    report.media("dark")
    assert report.run(paper) == "rgb(20, 24, 31)"
    text = "getComputedStyle(document.querySelector('figure svg text')).fill"
    assert report.run(text) == "rgb(228, 232, 238)"
    report.media("dark", "print")
    assert report.run(paper) == "rgb(255, 255, 255)" and report.run(text) == "rgb(0, 0, 0)"
    assert not report.one("nav").is_displayed() and not report.one(".filters").is_displayed()
    assert report.one("#list").is_displayed()
    report.media("light")
