"""A small corpus that holds one of everything the page has to show, and who drafts from it."""

import io
from collections.abc import Mapping
from pathlib import Path

from grounded_rag.protocols import Generation, GenerationRequest
from grounded_rag.types import Citation, Claim, Draft, StopReason, Usage

PAYLOAD = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
LONG = "The long rule says " + "that every further word counts and " * 14 + "ends here at last."
FACT = "Our garden opens at 7:15 on weekdays."
DOGS = "Dogs must stay outside the fence."
OWN_WORDS = "People may come in from a quarter past seven, save on weekends."
OLD = "The rate in the old sheet is 1.85% a year."
NEW = "The rate in the new sheet is 2.15% a year."
ARABIC = "رسم الحساب هو 4.20 يورو في الشهر."
JAPANESE = "口座の手数料は月に500円です。"
IN_PDF = "The deposit must be at least twelve percent of the price, and it has to be paid on time."
AGAIN = "Repeated words stand here twice."
TABLE_ROW = "| Harbour | 3 | **12** |"
HOSTILE = f"The hostile page says {PAYLOAD} and nothing else."
READ_HOSTILE = "The hostile page says <script>document.title='owned'</script> and nothing else."

CODE = "acme config set mode=fast\n  acme restart **now** <li>"
INDENTED = CODE.replace("\n", "\n    ")
USE = f"To switch on the fast mode, use the following commands:\n\n    {INDENTED}"
BRING = "Bring these **SHALL** things:"
ITEMS = ("a towel of <b>cotton</b>;", "water in a bottle;", "a *hat* of straw.")
TOLD_ITEMS = ["a towel of cotton;", "water in a bottle;", "a hat of straw."]
LISTED = f"{BRING}\n\n" + "\n".join(f"* {item}" for item in ITEMS)
WIDE = "Sponsorship | Responsibilities<br>of the office | " + " | ".join(
    f"Column{number} heading" for number in range(6)
)
WIDE_ROW = "Custodianship | keeps **records**<br>of all | " + " | ".join("x" * 12 for _ in range(6))
TRICKS = """<iframe src="javascript:alert(1)"></iframe> [link](javascript:alert(1)) &lt;script&gt;

- <svg onload=alert(1)> `<script>alert(1)</script>`

    <script>document.title = 'owned'</script>

| <a onclick=alert(1)>x</a> | ![x](http://example.org/x.png) |
|---|---|
| <form><button>ok</button></form> | <style>body{display:none}</style> |
"""

MANIFEST = f"""
[corpus]
title = "Test corpus {PAYLOAD.replace('"', "'")}"
today = 2026-11-29

[[document]]
path = "old.md"
title = "Rates of 2025"
effective_from = 2025-01-01
superseded_by = "new.md"
superseded_on = 2026-01-01

[[document]]
path = "new.md"
title = "Rates of 2026"
effective_from = 2026-01-01

[[document]]
path = "hostile.md"
title = '{PAYLOAD.replace("'", "`")}'
effective_from = 2026-01-01
trust = "untrusted"
"""

DOCUMENTS = {
    "garden.md": f"# Garden\n\n## Hours\n\n{FACT} {DOGS}\n\nBring water in summer.\n",
    "old.md": f"# Rates\n\n{OLD}\n",
    "new.md": f"# Rates\n\n{NEW}\n",
    "east.md": "# East\n\nThe east gate is open on Saturdays from 9:30 to 14:00.\n",
    "west.md": "# Gates\n\nThe east gate is open on Saturdays from 9:30 to 12:30.\n",
    "arabic.md": f"# الحساب\n\n{ARABIC}\n",
    "japanese.md": f"# 口座\n\n{JAPANESE}\n",
    "long.md": f"# Long\n\n{LONG}\n",
    "hostile.md": f"# {PAYLOAD}\n\n{HOSTILE}\n",
    "modes.md": f"# Modes\n\n{USE}\n\nThe fast mode stays on after a restart.\n",
    "swim.md": f"# Swimming\n\n{LISTED}\n\n{{:.letter-list}}\n",
    "wide.md": f"# Roles\n\n{WIDE}\n{'---|' * 7}---\n{WIDE_ROW}\n",
    "tricks.md": f"# Tricks\n\nThe trick page says that tricks are free.\n\n{TRICKS}",
    "table.md": (
        "# Boats\n\n| Place | Boats | Crew |\n|---|---|---|\n" + TABLE_ROW + "\n| Quay | 5 | 7 |\n"
    ),
}

QUESTIONS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "When does the garden open?": ((FACT, "garden.md", FACT),),
    "What was the rate in the old sheet?": ((OLD, "old.md", OLD),),
    "Is the east gate open on Saturdays?": (
        (
            "The east gate is open on Saturdays from 9:30 to 14:00.",
            "east.md",
            "The east gate is open on Saturdays from 9:30 to 14:00.",
        ),
    ),
    "How much deposit and when must it be paid?": ((IN_PDF, "leaflet.pdf", IN_PDF),),
    "كم رسم الحساب؟": ((ARABIC, "arabic.md", ARABIC),),
    "口座の手数料は？": ((JAPANESE, "japanese.md", JAPANESE),),
    "What does the long rule say?": ((LONG, "long.md", LONG),),
    f"What does the hostile page say? {PAYLOAD}": ((HOSTILE, "hostile.md", HOSTILE),),
    "How many boats has the Harbour?": (("Place: Harbour; Boats: 3", "table.md", TABLE_ROW),),
    "How is the fast mode switched on?": (
        (USE, "modes.md", USE),
        ("The fast mode stays on after a restart.", "modes.md", "The fast mode stays on"),
    ),
    "What shall I bring to swimming?": (
        (f"Bring these SHALL things: {' '.join(TOLD_ITEMS)}", "swim.md", LISTED),
    ),
    "What does the Custodianship do?": (
        (
            "Sponsorship: Custodianship; Responsibilities of the office: keeps records of all",
            "wide.md",
            WIDE_ROW,
        ),
    ),
    "What does the trick page say?": (
        ("The trick page says that tricks are free.", "tricks.md", "tricks are free"),
    ),
    "When does the garden open and who owns the sea?": ((FACT, "garden.md", FACT),),
    "Garden hours and dogs?": (
        (FACT, "garden.md", FACT),
        (DOGS, "garden.md", DOGS),
    ),
    "When may people come into the garden?": ((OWN_WORDS, "garden.md", FACT),),
    "When may people and dogs come into the garden?": (
        (OWN_WORDS, "garden.md", FACT),
        (DOGS, "garden.md", DOGS),
    ),
    "Does the garden sell rejected roses?": (
        ("The garden sells red roses all year round.", "garden.md", "sells red roses"),
    ),
}
UNKNOWN = "Who owns the garden?"
OPEN = "who owns the sea?"


class PlannedGenerator:
    """Drafts what `QUESTIONS` says; raises or waits where a test has told it to.

    Attributes:
        errors: What to raise, by question.
        holds: Awaited before drafting, by question.
        asked: The questions, in order.
        otherwise: Who drafts where there is no plan, such as about an upload.
    """

    def __init__(self):
        self.otherwise = None
        self.errors = {}
        self.holds = {}
        self.asked = []

    async def generate(self, request: GenerationRequest) -> Generation:
        self.asked.append(request.question)
        if request.question in self.holds:
            await self.holds[request.question]()
        if request.question in self.errors:
            raise self.errors[request.question]
        if request.question not in QUESTIONS and self.otherwise is not None:
            return await self.otherwise.generate(request)
        claims = [
            Claim(text=text, citations=(Citation(chunk_id=chunk.chunk.id, quote=quote),))
            for text, doc_id, quote in QUESTIONS.get(request.question, ())
            for chunk in request.chunks
            if chunk.chunk.doc_id == doc_id
            and (
                " ".join(quote.split()) in " ".join(chunk.chunk.text.split())
                or "rejected" in request.question
            )
        ]
        return Generation(
            draft=Draft(
                claims=tuple(claims),
                unanswered=(OPEN,) if claims and OPEN in request.question else (),
            ),
            stop=StopReason.COMPLETE,
            usage=Usage(calls=1, input_tokens=100, output_tokens=20),
            model="planned",
        )


def leaflet(first: str = "This leaflet tells about deposits.") -> bytes:
    """Return a PDF of two pages: the quote is on the second, after the same words elsewhere."""
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen import canvas

    out = io.BytesIO()
    page = canvas.Canvas(out, pagesize=A4, invariant=True)
    page.setFont("Helvetica", 12)
    page.drawString(72, 760, first)
    page.showPage()
    page.setFont("Helvetica", 12)
    page.drawString(72, 760, AGAIN)
    page.drawString(72, 730, "The deposit must be at least twelve percent of the price,")
    page.drawString(72, 715, "and it has to be paid on time.")
    page.drawString(72, 685, AGAIN)
    page.showPage()
    page.save()
    return out.getvalue()


def write_corpus(folder: Path) -> None:
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "leaflet.pdf").write_bytes(leaflet())
    (folder / "manifest.toml").write_text(MANIFEST, encoding="utf-8")
