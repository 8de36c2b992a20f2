import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from chatbot.__main__ import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(tmp_path, **more):
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CHATBOT_", "ANTHROPIC_")) and name != "GENERATOR"
    }
    environment |= {
        "PYTHONPATH": str(EXAMPLES),
        "CHATBOT_DATA": str(tmp_path / "data"),
        "CHATBOT_PORT": "0",
        "CHATBOT_DEMO": "false",
        **more,
    }
    return subprocess.Popen(
        [sys.executable, "-m", "chatbot"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def test_it_prints_its_address_serves_and_stops_when_told(tmp_path):
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nThe gate is green.\n", encoding="utf-8")
    with run(tmp_path, CHATBOT_CORPORA=json.dumps({"Handbook": str(folder)})) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith("Chatbot on http://127.0.0.1:"), process.stderr.read()
            address = line.split()[-1]
            assert httpx.get(f"{address}/healthz").json()["corpora"] == ["Handbook"]
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=60)
            assert process.returncode == 0
            assert "Stopped." in told
            assert "Traceback" not in told
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "There is no corpus."),
        ({"GENERATOR": "anthropic", "CHATBOT_DEMO": "true"}, "ANTHROPIC_API_KEY"),
        ({"CHATBOT_PORT": "many"}, "settings cannot be used"),
        ({"CHATBOT_CORPORA": '{"x": "/no/such/folder"}'}, "/no/such/folder"),
    ],
)
def test_what_cannot_work_is_said_at_once(tmp_path, monkeypatch, capsys, settings, told):
    monkeypatch.setenv("CHATBOT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("CHATBOT_DEMO", "false")
    monkeypatch.setenv("CHATBOT_PORT", "0")
    for name in ("GENERATOR", "CHATBOT_GENERATOR", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert main() == 1
    assert told in capsys.readouterr().err.replace("\n", " ")


def test_a_port_that_is_taken_is_said_with_the_way_out(monkeypatch, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setenv("CHATBOT_PORT", str(taken.getsockname()[1]))
        assert main() == 1
    assert "CHATBOT_PORT" in capsys.readouterr().err
