"""Takes the pictures of the README: `python -m chatbot.screenshots ADDRESS [FOLDER]`.

It needs Playwright and a Chromium, and a service that runs with the demo corpus.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

_FOLDER = Path(__file__).parents[2] / "docs" / "images"
_MOST_BYTES = 250_000
_COLOURS = 256


class Shot(NamedTuple):
    """One picture.

    Attributes:
        name: Its file is `chatbot-NAME.png`.
        question: What is asked first.
        size: Width and height of the window.
        scheme: Colours.
        then: What is done after the answer: "" or "trace", "source", "passage".
    """

    name: str
    question: str
    size: tuple[int, int]
    scheme: str
    then: str = ""


_WIDE, _PHONE = (1360, 820), (390, 780)
SHOTS = (
    Shot("welcome", "", _WIDE, "light"),
    Shot("pdf", "How much deposit do I need to buy my first home?", _WIDE, "light"),
    Shot("outdated", "What was the savings rate on the Everyday Saver in 2024?", _WIDE, "light"),
    Shot("conflict", "Is the Tarnwick branch open on Saturdays?", _WIDE, "dark"),
    Shot("refusal", "Does the bank offer pet insurance?", _WIDE, "light", "passage"),
    Shot(
        "trace",
        "Within how many days must a dispute of a card payment reach you?",
        _WIDE,
        "light",
        "trace",
    ),
    Shot("arabic-phone", "ما هي الوثائق المطلوبة لفتح حساب؟", _PHONE, "dark", "source"),
)


def main() -> int:
    """Take every picture."""
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("CHATBOT_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for shot in SHOTS:
            path = folder / f"chatbot-{shot.name}.png"
            path.write_bytes(_take(browser, sys.argv[1], shot))
            print(f"{path}: {path.stat().st_size // 1000} kB")
        browser.close()
    return 0


def _take(browser: Browser, address: str, shot: Shot) -> bytes:
    options: dict[str, Any] = {"color_scheme": shot.scheme, "reduced_motion": "reduce"}
    context = browser.new_context(
        viewport={"width": shot.size[0], "height": shot.size[1]}, **options
    )
    page = context.new_page()
    page.goto(address)
    page.locator("body[data-ready]").wait_for()
    if shot.question:
        _ask(page, shot)
    page.wait_for_load_state("networkidle")
    picture = page.screenshot()
    context.close()
    return _smaller(picture)


def _ask(page: Page, shot: Shot) -> None:
    page.get_by_label("Your question").fill(shot.question)
    page.keyboard.press("Enter")
    page.locator(".answer:not(.pending)").wait_for()
    if page.locator("#source .page").count():
        page.locator("#source .page rect").first.wait_for()
        page.locator("#source .paper").evaluate("node => node.scrollIntoView()")
    if shot.then == "trace":
        page.get_by_role("button", name="How it was checked").click()
        page.locator(".claims").wait_for()
        page.locator(".claims").scroll_into_view_if_needed()
    elif shot.then == "source":
        page.locator(".log .mark").first.click()
    elif shot.then == "passage":
        page.locator(".nearest summary").first.click()


def _smaller(picture: bytes) -> bytes:
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    out = io.BytesIO()
    image.quantize(_COLOURS).save(out, format="PNG", optimize=True)
    if out.tell() > _MOST_BYTES:
        raise SystemExit(f"A picture has {out.tell()} bytes, more than {_MOST_BYTES}.")
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main())
