"""Headless Chromium for the tests of the report's page: Debian's `chromium` and `chromium-driver`, through selenium.

Nothing is downloaded, and Chromium's own background traffic is off. Pages are opened from files.
"""

import base64
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless=new",
    "--no-sandbox",  # root in a container has no user namespace to build one
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1200,900",
)


def lacking() -> str:
    """Say what is missing on this machine, or nothing."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    try:
        import selenium  # noqa: F401
    except ImportError:
        missing.append("selenium (configs/browser.lock)")
    return f"not on this machine: {', '.join(missing)}" if missing else ""


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A running browser with an empty profile; its console is kept for `complaints()`."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def look(driver: Any, page: Path, width: int = 1200, dark: bool = False) -> None:
    """Open a page at a width in CSS pixels, in light or dark."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    motion = {"name": "prefers-reduced-motion", "value": "reduce"}  # or a click may meet a page that still scrolls
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, motion]})
    driver.get(page.as_uri())


def screenshot(driver: Any, path: Path, whole: bool = True) -> None:
    """Keep what is seen, or the whole page, as a PNG."""
    answer = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole, "format": "png"})
    path.write_bytes(base64.b64decode(answer["data"]))


def complaints(driver: Any) -> list[str]:
    """What the browser's console says of the page: script errors, refused sources, failed loads."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
