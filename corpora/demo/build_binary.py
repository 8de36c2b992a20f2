"""Build the PDF and DOCX documents of the demo corpus.

    pip install reportlab python-docx
    python corpora/demo/build_binary.py

The output is deterministic: the same versions of the two libraries give the same bytes.
"""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import docx
import reportlab
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

DOCS = Path(__file__).parent / "docs"
FIXED = dt.datetime(2026, 6, 1, 9, 0, 0)
LEFT, RIGHT, TOP, BOTTOM = 22 * mm, A4[0] - 22 * mm, A4[1] - 34 * mm, 28 * mm
REGULAR, BOLD = "Vera", "VeraBd"


def register_fonts() -> None:
    """Register the fonts that reportlab itself ships; they carry the ligatures."""
    folder = Path(reportlab.__file__).parent / "fonts"
    for name in (REGULAR, BOLD):
        pdfmetrics.registerFont(TTFont(name, str(folder / f"{name}.ttf")))


class Pages:
    """A canvas with a running header, a footer with the page number, and wrapped text."""

    def __init__(self, path: Path, title: str, header: str, total: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.canvas = Canvas(str(path), pagesize=A4, invariant=1)
        self.canvas.setTitle(title)
        self.canvas.setAuthor("Quillhaven Bank")
        self.header, self.total, self.page = header, total, 0
        self.y = 0.0
        self.new_page()

    def new_page(self) -> None:
        if self.page:
            self.canvas.showPage()
        self.page += 1
        self.canvas.setFont(REGULAR, 8)
        self.canvas.drawString(LEFT, A4[1] - 18 * mm, self.header)
        self.canvas.drawRightString(RIGHT, 15 * mm, f"Page {self.page} of {self.total}")
        self.y = TOP

    def line(self, text: str, font: str = REGULAR, size: float = 11, lead: float = 18) -> None:
        if self.y < BOTTOM:
            self.new_page()
        self.canvas.setFont(font, size)
        self.canvas.drawString(LEFT, self.y, text)
        self.y -= lead

    def heading(self, text: str, size: float = 13, fresh: bool = False) -> None:
        if fresh or self.y < BOTTOM + 60:
            self.new_page()
        self.y -= 8
        self.line(text, BOLD, size, 20)

    def paragraph(self, text: str) -> None:
        current = ""
        for word in text.split():
            longer = f"{current} {word}".strip()
            if pdfmetrics.stringWidth(longer, REGULAR, 11) > RIGHT - LEFT:
                self.line(current)
                current = word
            else:
                current = longer
        self.line(current)
        self.y -= 6

    def lines(self, text: str) -> None:
        """Set lines exactly as written: line-end hyphens stay where they are."""
        for row in text.strip().splitlines():
            if row:
                self.line(row)
            else:
                self.y -= 6
        self.y -= 6

    def table(self, rows: Sequence[Sequence[str]], columns: Sequence[float]) -> None:
        for number, row in enumerate(rows):
            if self.y < BOTTOM:
                self.new_page()
            self.canvas.setFont(BOLD if number == 0 else REGULAR, 9)
            for text, x in zip(row, columns, strict=True):
                self.canvas.drawString(LEFT + x * mm, self.y, text)
            self.y -= 14
        self.y -= 6

    def save(self) -> None:
        if self.page != self.total:
            raise SystemExit(f"expected {self.total} pages, wrote {self.page}")
        self.canvas.save()


def first_home_guide(path: Path) -> None:
    pages = Pages(path, "Buying your first home", "Quillhaven Bank – Buying your first home – edition May 2026", 4)
    pages.heading("Buying your first home", 18)
    pages.paragraph(
        "This guide takes you from the first sum on an envelope to the keys in your hand. It describes how Quillhaven "
        "Bank lends to people who buy a home to live in. It is not an offer; your contract says what applies to you."
    )
    pages.heading("1. How much could you borrow?")
    pages.paragraph(
        "As a rule we lend up to 4.5 times the yearly gross income of all borrowers together. For first-time buyers who "
        "are under 35 we may go up to 5 times. All monthly debt payments together may not exceed 38% of net income."
    )
    pages.paragraph(
        "We count a basic salary in full. We count half of a bonus if it was paid in each of the last two years. Rent "
        "from a lodger is not counted."
    )
    pages.heading("2. Your deposit")
    pages.paragraph(
        "You need a deposit of at least 10% of the purchase price. For flats above the sixth floor and for timber houses "
        "built before 1950 the deposit is at least 20%. A gift from a relative may form part of the deposit; the giver "
        "signs a letter that the money does not have to be paid back."
    )
    pages.paragraph(
        "The costs of buying come on top. In Merrowland they are usually between 6% and 9% of the price: land transfer "
        "tax, the notary, the land register and, where there is one, the agent."
    )
    pages.heading("3. Decision in principle", fresh=True)
    pages.paragraph(
        "A decision in principle tells you, before you search, what we expect to lend. It is free, it takes about 20 "
        "minutes in the app and it is valid for 90 days. It can be renewed once for a further 60 days. A decision in "
        "principle is recorded as a soft search, which other lenders do not see."
    )
    pages.heading("4. The full application")
    pages.paragraph(
        "When your offer has been accepted, send us the full application. We need the last three payslips, the last six "
        "months of statements of your main account, an identity document and the draft contract of sale. People who "
        "work for themselves send the accounts and tax assessments of the last two years instead of payslips."
    )
    pages.paragraph(
        "A surveyor values the home. The valuation fee is €390 for a home priced up to €400,000 and €560 above that. The "
        "fee is not refunded if the purchase falls through after the surveyor's visit."
    )
    pages.paragraph(
        "We usually make a binding offer within 12 working days of a complete application. The offer is open for 30 "
        "days. If the home has a flying freehold or stands on leased land, a decision may take up to 25 working days."
    )
    pages.heading("5. Choosing how long to fix", fresh=True)
    pages.paragraph(
        "You can fix the rate for 5, 10 or 15 years. The rates are in the sheet of mortgage rates. A longer fix usually "
        "costs a little more. When the fix ends, the loan moves to our standard variable rate unless you choose again. "
        "We write to you 120 days before the fix ends."
    )
    pages.table(
        [
            ["Fixed for", "Offer kept open", "Free overpayment a year", "Early repayment charge"],
            ["5 years", "4 months", "5% of the loan", "up to 2%"],
            ["10 years", "6 months", "5% of the loan", "up to 3%"],
            ["15 years", "6 months", "10% of the loan", "up to 4%"],
        ],
        [0, 30, 68, 118],
    )
    pages.heading("6. Fees")
    pages.paragraph(
        "The product fee is €750. It is waived for first-time buyers who borrow no more than 80% of the value. The fee "
        "can be added to the loan, in which case it bears interest. There is no fee for changing the day on which the "
        "instalment is paid."
    )
    pages.heading("7. Insurance")
    pages.paragraph(
        "Buildings insurance is required from the day the risk passes to you. You are free to choose the insurer. "
        "Contents insurance and life insurance are not required, although we may recommend them."
    )
    pages.heading("8. Signing and paying out")
    pages.paragraph(
        "You sign before a notary. We pay the loan to the notary's client account within two working days after the "
        "notary confirms that the land charge has been registered or its registration is assured."
    )
    pages.paragraph(
        "For a home that is being built we pay in up to seven stages as the work goes on. From the fourth month after "
        "the offer we charge a commitment fee of 0.15% a month on the part that has not been paid out."
    )
    pages.heading("9. The first-time buyer allowance", fresh=True)
    pages.paragraph(
        "The state of Merrowland gives first-time buyers an allowance of €6,000. The allowance is paid by the Housing "
        "Office, not by the bank, and you must ask for it within 12 months of moving in. We fill in part B of the form."
    )
    pages.heading("10. If your plans change")
    pages.paragraph(
        "You can take the loan with you to another home (porting) if the new loan is not larger than the old one and the "
        "move takes place within six months of the sale. For holiday homes porting is not possible."
    )
    pages.paragraph(
        "If your income falls, talk to us before you miss an instalment. The page on financial difficulty describes what "
        "we can do. An early conversation is never recorded as a missed payment."
    )
    pages.heading("11. A short list for the day you move")
    pages.paragraph(
        "Read the meters with the seller. Tell us your new address in the app. Check that buildings insurance runs from "
        "today. Keep the notary's invoice: the Housing Office asks for it. And keep a little money aside; in our "
        "experience first-time buyers spend about €2,500 on small things in the first three months."
    )
    pages.save()


def tracked(paragraph: Any, tag: str, text: str, when: str, number: int) -> None:
    """Append a tracked insertion (w:ins) or deletion (w:del) to a paragraph."""
    change = OxmlElement(tag)
    change.set(qn("w:id"), str(number))
    change.set(qn("w:author"), "Lending Policy")
    change.set(qn("w:date"), when)
    run = OxmlElement("w:r")
    body = OxmlElement("w:t" if tag == "w:ins" else "w:delText")
    body.set(qn("xml:space"), "preserve")
    body.text = text
    run.append(body)
    change.append(run)
    paragraph._p.append(change)


def add_table(document: Any, rows: Sequence[Sequence[str]]) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]))
    table.style = "Table Grid"
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text


def save_docx(document: Any, path: Path, title: str) -> None:
    """Save with fixed properties and fixed times inside the archive."""
    properties = document.core_properties
    properties.title, properties.author = title, "Quillhaven Bank"
    properties.created = properties.modified = FIXED
    buffer = io.BytesIO()
    document.save(buffer)
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            info = zipfile.ZipInfo(name, FIXED.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(info, source.read(name))


def lending_policy(path: Path) -> None:
    title = "Lending policy: summary for branch staff"
    document = docx.Document()
    document.add_heading(title, 0)
    document.add_paragraph(
        "This summary helps branch staff to answer first questions about consumer loans. Credit decisions are made by "
        "the Lending Desk in Quillhaven only."
    )
    document.add_heading("Affordability", 1)
    document.add_paragraph(
        "After all expenses a single applicant must have at least €350 a month left. A couple must have at least €520 a "
        "month left, and each dependent child adds €140."
    )
    paragraph = document.add_paragraph("The highest amount of a personal loan that a branch may accept without a call to the Lending Desk is ")
    tracked(paragraph, "w:del", "€8,000", "2026-04-20T09:00:00Z", 101)
    tracked(paragraph, "w:ins", "€12,000", "2026-04-20T09:00:00Z", 102)
    paragraph.add_run(".")
    document.add_heading("Who may sign", 1)
    add_table(
        document,
        [
            ["Loan amount", "First signature", "Second signature", "Documents kept"],
            ["up to €5,000", "adviser", "none", "2 payslips"],
            ["€5,001 to €12,000", "adviser", "branch manager", "3 payslips"],
            ["€12,001 to €25,000", "branch manager", "Lending Desk", "3 payslips and 1 tax assessment"],
            ["above €25,000", "Lending Desk", "Credit Committee", "6 payslips and 2 tax assessments"],
        ],
    )
    document.add_heading("Applicants we do not lend to", 1)
    for text in (
        "Applicants in a probation period at work. The exception is a probation period after a move inside the same employer.",
        "Applicants with an insolvency that was closed less than three years ago.",
        "Applicants whose only income is a student grant. They can be offered the arranged overdraft of the Student Account.",
    ):
        document.add_paragraph(text, style="List Bullet")
    document.add_heading("Joint applicants", 1)
    document.add_paragraph(
        "Joint applicants are each liable for the whole loan. They need not be married and need not share an address, but "
        "both must have an account with a bank in Merrowland."
    )
    document.add_heading("How to say no", 1)
    document.add_paragraph(
        "Tell the applicant the main reason in plain words on the same day. An applicant who was refused may apply again "
        "after three months, or at once if the reason no longer exists. Never suggest that a refusal can be appealed at "
        "the counter: the applicant can ask the Lending Desk in writing to look again, usually within ten working days."
    )
    save_docx(document, path, title)


def scam_refunds(path: Path) -> None:
    pages = Pages(path, "Refunds after a scam", "Quillhaven Bank – Leaflet S-5 – Refunds after a scam", 2)
    pages.heading("Refunds after a scam", 18)
    pages.lines(
        """
You were deceived and sent money yourself. This leaﬂet explains, un-
der the Merrowland Scam Code, when we refund the loss. Please tell us
ﬁrst, and do not be ashamed: it happens to careful people.
"""
    )
    pages.heading("How much we refund")
    pages.lines(
        """
We refund the full loss up to €25,000 if you were careful. We re-
fund half of the loss if you ignored a general warning. There is no re-
fund if you conﬁrmed twice a warning that described exactly your case.

Losses of less than €40 are not refunded. This small-claim thresh-
old does not apply to customers who are marked as vulnerable on our ﬁles.
"""
    )
    pages.heading("How fast we decide")
    pages.lines(
        """
We usually decide within seven working days. If another bank is invol-
ved it may take up to 30 working days. We tell you in writing how we de-
cided and on which facts.
"""
    )
    pages.heading("What you should do", fresh=True)
    pages.lines(
        """
Report the scam by telephone on 0555 010 911, at any hour. You must re-
port it within 60 days of the last payment. Report it to the po-
lice as well and send us the ﬁle number; we begin work before it arrives.

Keep all messages. Do not try to win the money back on your own: so-
called recovery ﬁrms are usually the next scam.
"""
    )
    pages.heading("What the Code does not cover")
    pages.lines(
        """
The Code does not cover payments by card, cash, payments to an ac-
count in your own name, purchases in which the goods were merely poor, and in-
vestments that turned out badly. For cards, see the page on card disputes.

Payments to accounts outside Merrowland are covered only if the re-
ceiving bank has joined the Code. So far nine banks have joined, three of
them in Norvale.
"""
    )
    pages.heading("If you do not agree")
    pages.lines(
        """
Ask us for a second look within 20 working days. A colleague from another of-
ﬁce examines the case. After that the way to the Ombudsman is open.
"""
    )
    pages.save()


def travel_insurance(path: Path) -> None:
    pages = Pages(path, "Travel insurance with Tern Gold", "Quillhaven Bank – Travel insurance with Tern Gold", 3)
    pages.heading("Travel insurance with Tern Gold", 18)
    pages.paragraph(
        "Key facts, edition of 15 January 2026. The insurer is Beacon Mutual. The insurance is part of the Tern Gold card; "
        "it cannot be bought alone and it is not part of Tern Classic."
    )
    pages.heading("When the insurance applies")
    pages.paragraph(
        "The insurance applies to trips of up to 45 days if at least half of the price was paid with the card. A trip "
        "begins when you leave home and ends when you return. Trips to work are not trips in this sense. A trip must lead "
        "at least 80 kilometres away from home or include one night."
    )
    pages.heading("Who is insured")
    pages.paragraph(
        "Insured are the holder of the card, a partner who lives in the same household, and children up to the age of 21 "
        "who travel with them. From the 76th birthday of the holder, illness abroad is insured only for trips of up to 21 days."
    )
    pages.heading("What is insured and up to how much", fresh=True)
    pages.table(
        [
            ["Cover", "Insured up to", "You bear", "Report within"],
            ["Illness abroad", "€500,000", "€75", "48 hours"],
            ["Cancelling a trip", "€4,000", "10%", "2 days"],
            ["Breaking off a trip", "€4,000", "10%", "2 days"],
            ["Luggage", "€1,800", "€100", "7 days"],
            ["Delayed luggage", "€250", "nothing", "24 hours"],
            ["Delayed flight", "€180", "nothing", "30 days"],
            ["Liability abroad", "€1,000,000", "€150", "14 days"],
        ],
        [0, 55, 95, 130],
    )
    pages.paragraph(
        "A flight is delayed in the sense of this insurance from the fourth hour. Luggage is delayed from the twelfth hour "
        "after arrival. On the way home there is no payment for delayed luggage."
    )
    pages.heading("Cancelling a trip")
    pages.paragraph(
        "You can claim if you cannot travel because of a serious illness, an accident, pregnancy, the loss of your job, or "
        "the death of a close relative. A dog or a cat counts as a close relative only for illnesses that need surgery."
    )
    pages.heading("What is not insured", fresh=True)
    pages.paragraph(
        "Not insured are illnesses that were being treated in the six weeks before booking, trips against the advice of a "
        "doctor, trips to countries for which the state of Merrowland had issued a warning before departure, and damage "
        "done on purpose. Sports are insured unless the General Terms exclude them."
    )
    pages.heading("Making a claim")
    pages.paragraph(
        "In an emergency call Beacon Mutual on 0555 010 788 at any hour. In other cases use the form in the app. Beacon "
        "Mutual usually pays within 12 working days after all papers have arrived. Papers in languages other than English, "
        "German and French may have to be translated at your cost, up to €60."
    )
    pages.heading("When the insurance ends")
    pages.paragraph(
        "The insurance ends with the card. Trips that have already begun stay insured until their end, but for no more than 14 days."
    )
    pages.save()


def safe_deposit_boxes(path: Path) -> None:
    title = "Safe deposit boxes: sizes and rent"
    document = docx.Document()
    document.add_heading(title, 0)
    document.add_paragraph("In force from 1 January 2026. The vault is at Lantern Quay, on the lower floor.")
    document.add_heading("Sizes and rent", 1)
    add_table(
        document,
        [
            ["Size", "Height", "Yearly rent", "Key deposit", "Boxes free"],
            ["Small", "5 cm", "€72", "€50", "usually at once"],
            ["Medium", "10 cm", "€120", "€50", "usually within a month"],
            ["Large", "20 cm", "€180", "€75", "waiting list of up to a year"],
            ["Cabinet", "45 cm", "€410", "€120", "waiting list of up to three years"],
        ],
    )
    document.add_paragraph("All boxes are 25 cm wide and 38 cm deep. Holders of a Quill Plus Account pay half the rent for a small box.")
    document.add_heading("Opening your box", 1)
    document.add_paragraph(
        "You open the box together with a member of staff. The vault can be visited during opening hours until half an hour "
        "before the branch closes. Twelve visits a year are included; each further visit costs €3.00."
    )
    document.add_heading("Who may open it", 1)
    document.add_paragraph(
        "You may name up to two persons who can open the box alone. They sign a card in the branch. After the death of the "
        "tenant the box is sealed until the certificate of inheritance has been shown, also for persons who were named."
    )
    document.add_heading("Lost keys", 1)
    document.add_paragraph("Exchanging the lock after the loss of one key costs €95. Drilling the box open after the loss of both keys costs €240.")
    document.add_heading("What you may not keep in it", 1)
    for text in ("cash of more than €10,000", "weapons and explosives", "things that smell, leak or live"):
        document.add_paragraph(text, style="List Bullet")
    save_docx(document, path, title)


def card_terminals(path: Path) -> None:
    title = "Card terminals for shops and markets"
    document = docx.Document()
    document.add_heading(title, 0)
    document.add_paragraph(
        "A leaflet for business customers. Prices are shown without value added tax and apply to contracts signed from 1 March 2026."
    )
    document.add_heading("Three terminals", 1)
    add_table(
        document,
        [
            ["", "Counter", "Pocket", "Market"],
            ["Monthly rent", "€12.00", "€16.50", "€9.00"],
            ["Debit card payment", "0.35%", "0.45%", "0.90%"],
            ["Credit card payment", "0.95%", "1.10%", "1.60%"],
            ["Battery", "none", "8 hours", "14 hours"],
            ["Paid out after", "1 working day", "1 working day", "3 working days"],
            ["Shortest contract", "24 months", "24 months", "1 month"],
        ],
    )
    document.add_heading("Choosing", 1)
    document.add_paragraph(
        "Market has no printer and sends receipts by text message. It is meant for shops that take less than about €1,500 a "
        "month. Above that the lower percentages of Counter usually outweigh its rent."
    )
    document.add_heading("If a terminal fails", 1)
    document.add_paragraph(
        "We replace a Counter or Pocket terminal by the end of the next working day. A Market terminal is replaced by post, "
        "which may take up to five working days. During a failure of the network, Counter stores up to 50 payments of no more than €25 each."
    )
    document.add_heading("Ending the contract", 1)
    document.add_paragraph(
        "The contract can be ended with one month's notice to the end of the shortest period. A shop that closes for good can "
        "end it early for a single payment of three months' rent."
    )
    save_docx(document, path, title)


BUILDERS: dict[str, Callable[[Path], None]] = {
    "mortgages/first-home-guide.pdf": first_home_guide,
    "security/scam-refunds.pdf": scam_refunds,
    "cards/travel-insurance.pdf": travel_insurance,
    "loans/lending-policy-summary.docx": lending_policy,
    "fees/safe-deposit-boxes.docx": safe_deposit_boxes,
    "business/card-terminals.docx": card_terminals,
}


def main() -> None:
    register_fonts()
    for name, build in BUILDERS.items():
        build(DOCS / name)
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
