"""Saving receipts, and the audit of a folder of them, as a library and on the command line."""

import json
import re

import pytest
from typer.testing import CliRunner

from grounded_rag import GroundedRAG, audit_receipts, load_receipt, verify_receipt
from grounded_rag.cli.app import app
from grounded_rag.errors import ReceiptError
from grounded_rag.receipts.make import receipt_files, save_receipt
from grounded_rag.testing import HashEmbedding

RATE = "The Everyday Saver pays 1.85% gross a year."
FEE = "A replacement card costs €12."


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "160"})
    assert result.exit_code == code, result.output
    return result


def test_every_answer_is_saved_under_a_name_without_its_question(bank):
    bank.answer(RATE, question="Does ../../etc/passwd pay?")
    bank.answer(FEE)
    files = list(receipt_files(bank.receipts))
    assert len(files) == 2
    for file in files:
        assert re.fullmatch(r"\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{16}\.json", file.name)
    assert sorted(p.name for p in bank.receipts.iterdir()) == [file.name for file in files]
    receipt = load_receipt(files[0])
    assert receipt.question == "Does ../../etc/passwd pay?"
    assert receipt.policy["support"] == "strict"
    assert receipt.generator == "scripted"
    assert receipt.fingerprint


def test_refusals_are_saved_too(bank):
    with GroundedRAG.open(
        bank.index, embedding=HashEmbedding(), receipts=str(bank.receipts)
    ) as rag:
        assert not rag.query("Who painted the opera's ceiling?").answered
    (file,) = receipt_files(bank.receipts)
    assert load_receipt(file).refusal is not None


def test_an_answer_whose_receipt_cannot_be_saved_is_not_returned(bank, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file", encoding="utf-8")
    with (
        GroundedRAG.open(bank.index, embedding=HashEmbedding(), receipts=blocked) as rag,
        pytest.raises(ReceiptError),
    ):
        rag.query("What does the Everyday Saver pay?")


def test_a_failed_write_leaves_nothing_behind(bank, tmp_path, monkeypatch):
    receipt = bank.answer(RATE).receipt()

    def fail(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grounded_rag.receipts.make.os.fsync", fail)
    with pytest.raises(ReceiptError, match="No space"):
        save_receipt(receipt, tmp_path / "full")
    assert list((tmp_path / "full").iterdir()) == []


def test_an_audit_finds_what_changed_and_only_that(bank, place):
    for question in ("One?", "Two?"):
        bank.answer(RATE, question=question)
    bank.answer(FEE, question="Three?")
    assert audit_receipts(bank.receipts, **place()).clean
    bank.edit("rates.md", "1.85%", "2.10%")
    (bank.receipts / "broken.json").write_text("{", encoding="utf-8")
    (bank.receipts / "notes.txt").write_text("no receipt", encoding="utf-8")
    report = audit_receipts(bank.receipts, **place())
    assert sorted(finding.check.question for finding in report.wrong) == ["One?", "Two?"]
    assert report.stale == ()
    assert report.receipts == 3
    assert report.statuses == {"still_true": 1, "text_changed": 2}
    assert [item.file for item in report.unreadable] == ["broken.json"]
    assert not report.clean


def test_the_bank_learns_who_was_told_the_old_rate(bank):
    bank.answer(RATE, question="What does the Everyday Saver pay?")
    bank.answer(FEE, question="What does a card cost?")
    bank.write("rates-2026.md", "# Deposits\n\nThe Everyday Saver pays 2.15% gross a year.\n")
    entry = 'path = "rates.md"\n'
    bank.edit("manifest.toml", entry, entry + 'superseded_by = "rates-2026.md"\n')
    bank.sync()
    arguments = ("receipt", "audit", bank.receipts, "--index", bank.index, "--as-of", "2026-06-01")
    text = run(*arguments, code=3).stdout
    assert "What does the Everyday Saver pay?" in text
    assert "rates-2026.md" in text
    assert "2.15%" in text
    assert "What does a card cost?" not in text
    report = json.loads(run(*arguments, "--json", code=3).stdout)
    assert len(report["findings"]) == 1
    assert report["receipts"] == 2


def test_verify_on_the_command_line(bank):
    bank.answer(RATE)
    (file,) = receipt_files(bank.receipts)
    assert "stands" in run("receipt", "verify", file).stdout
    assert "still true" in run("receipt", "verify", file, "--folder", bank.folder).stdout
    bank.edit("rates.md", "1.85%", "2.10%")
    result = run("receipt", "verify", file, "--folder", bank.folder, code=3)
    assert "[-1.85-]" in result.stdout
    assert "{+2.10+}" in result.stdout
    shown = json.loads(
        run("receipt", "verify", file, "--folder", bank.folder, "--json", code=3).stdout
    )
    assert shown["claims"][0]["status"] == "text_changed"
    file.write_text(file.read_text(encoding="utf-8").replace("1.85%", "1.95%"), encoding="utf-8")
    assert "altered" in run("receipt", "verify", file, code=3).stdout


@pytest.mark.parametrize(
    ("claim", "options", "told"),
    [
        (None, {}, "Word for word from the source."),
        ("You get 1.85% a year.", {}, "In the source’s words"),
        ("You get 1.85% a year.", {"entailment": True}, "Confirmed then by test-nli; not asked"),
    ],
)
def test_on_what_a_claim_rests_is_told_in_plain_words(bank, model, claim, options, told):
    options = {"entailment": model} if options else {}
    bank.answer(RATE, claim=claim, **options)
    (file,) = receipt_files(bank.receipts)
    assert told in run("receipt", "verify", file).stdout
    bank.edit("rates.md", "1.85%", "2.10%")
    report = run("receipt", "audit", bank.receipts, "--folder", bank.folder, code=3).stdout
    assert told.split()[0] in report


def test_hostile_text_in_a_receipt_cannot_steer_the_terminal(bank):
    bank.answer(RATE, question="What \x1b[2J[bold red]pays[/]?")
    (file,) = receipt_files(bank.receipts)
    text = run("receipt", "verify", file).stdout
    assert "\x1b[2J" not in text
    assert "[bold red]pays[/]" in text


def test_a_printed_check_and_a_printed_audit_say_what_changed(bank, place):
    bank.answer(RATE, question="What does the Everyday Saver pay?")
    bank.answer(FEE, question="What does a card cost?")
    file, _other = receipt_files(bank.receipts)
    assert str(verify_receipt(load_receipt(file), **place())).startswith("stands: What does the")
    bank.edit("rates.md", "1.85%", "2.10%")
    entry = 'path = "rates.md"\neffective_from = 2024-01-01\n'
    bank.edit("manifest.toml", entry, f"{entry}valid_until = 2025-01-01\n")
    check = str(verify_receipt(load_receipt(file), **place()))
    lines = check.splitlines()
    assert lines[0] == "wrong: What does the Everyday Saver pay?"
    assert lines[2] == f"  ✗ {RATE}"
    assert lines[3].startswith("      text changed: The text reads otherwise now. Numbers: 1.85%")
    assert "      Word for word from the source." in lines
    assert "      reads now: The Everyday Saver pays [-1.85-]{+2.10+}% gross a year." in lines
    assert lines[-1].startswith("      ! expired: ")
    (bank.receipts / "broken.json").write_text("{", encoding="utf-8")
    report = str(audit_receipts(bank.receipts, **place()))
    assert report.startswith("2 receipts as of 2025-01-02; still right: 1, wrong or altered: 1")
    assert f"{file.name}:\n  wrong: What does the Everyday Saver pay?\n" in report
    assert "What does a card cost?" not in report
    assert "unreadable: broken.json: " in report


def test_hostile_text_in_a_report_steers_nothing_when_it_is_printed(bank):
    text = "\x1b[2J\x9b31m\u202e<b>[red]\n✓ all is well"
    receipt = bank.answer(RATE, question=text).receipt()
    (claim,) = receipt.claims
    forged = claim.model_copy(update={"text": f"{RATE} {text}"})
    save_receipt(receipt.model_copy(update={"claims": (forged,), "id": text}), bank.receipts)
    (bank.receipts / "\x1b[2J.json").write_text("{", encoding="utf-8")
    for file in receipt_files(bank.receipts):
        if file.name[0].isdigit():
            assert_plain(str(verify_receipt(load_receipt(file), folder=bank.folder)))
    report = str(audit_receipts(bank.receipts, folder=bank.folder))
    assert_plain(report)
    assert "altered" in report
    assert not any(line.startswith("✓") for line in report.splitlines())


def assert_plain(text):
    assert not set(text) & set("\x1b\x9b\u202e\x00\r"), text


@pytest.mark.parametrize(
    "arguments",
    [
        ("receipt", "verify", "missing.json"),
        ("receipt", "audit", "missing"),
    ],
)
def test_errors_are_one_line_with_the_next_step(arguments):
    result = run(*arguments, code=1)
    assert "next:" in result.stderr
    assert "Traceback" not in result.output


def test_index_and_folder_together_are_an_error(bank):
    bank.answer(RATE)
    (file,) = receipt_files(bank.receipts)
    result = run("receipt", "verify", file, "--index", bank.index, "--folder", bank.folder, code=1)
    assert "Name one" in result.stderr


def test_ask_saves_a_receipt(bank, tmp_path):
    folder = tmp_path / "asked"
    index = tmp_path / "words"
    run("ingest", bank.folder, "--index", index, "--words-only")
    run(
        "ask", "What does the Everyday Saver pay?", "--index", index, "--receipts", folder,
        "--as-of", "2025-01-01",
    )  # fmt: skip
    (file,) = receipt_files(folder)
    assert "1.85%" in load_receipt(file).text
    run("receipt", "audit", folder, "--index", index, "--as-of", "2025-01-02")
