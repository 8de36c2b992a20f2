"""Ask a folder of documents; every sentence of an answer carries a quote that stands there.

python examples/quickstart.py
"""

import tempfile
from pathlib import Path

from grounded_rag import GroundedRAG, verify_receipt

HANDBOOK = {
    "leaving.md": (
        "# Leaving\n\nThe notice period is six weeks to the end of a month. "
        "Return your badge and laptop on your last day.\n"
    ),
    "travel.md": (
        "---\nvalid_until: 2024-12-31\n---\n# Travel\n\n"
        "Train journeys are booked in second class. Flights need the approval of a director.\n"
    ),
}


def main() -> None:
    """Ingest two documents, ask three questions, and check a receipt."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in HANDBOOK.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")

        with GroundedRAG.from_corpus(folder) as rag:
            answer = rag.query("How long is the notice period?")
            print(answer.to_terminal(), "\n")

            # A citation is a place: these characters stand in that document, at that offset.
            place = answer.claims[0].located[0]
            span = place.document_span
            print(f"{place.doc_id}[{span.start}:{span.end}] == {place.quote!r}\n")

            # The source is out of date: the answer says so.
            print(rag.query("In which class are train journeys booked?").to_terminal(), "\n")

            # Not in the documents: one fixed sentence, and the reason.
            print(rag.query("Who won the football cup?").to_terminal(), "\n")

        # Whoever gets the receipt can check it later, offline, against the documents of that day.
        check = verify_receipt(answer.receipt(), folder=folder)
        print("The receipt stands." if check.stands else "The receipt no longer stands.")
        (Path(folder) / "leaving.md").write_text(
            HANDBOOK["leaving.md"].replace("six", "eight"), encoding="utf-8"
        )
        check = verify_receipt(answer.receipt(), folder=folder)
        print(f"After an edit: {check.claims[0].why}")


if __name__ == "__main__":
    main()
