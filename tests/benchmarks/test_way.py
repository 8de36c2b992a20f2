"""The counting of `benchmarks/way.py`: what is ours, in every thread, and how deep."""

import importlib.util
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _way():
    spec = importlib.util.spec_from_file_location("way", ROOT / "benchmarks" / "way.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["way"] = module
    spec.loader.exec_module(module)
    return module


way = _way()

SOURCE = """
def outer():
    return [inner(number) for number in range(3)]

def inner(number):
    return (lambda: number)()

class Body:
    attribute = inner(1)
"""


@pytest.fixture
def ours():
    """Return functions that look as if they stood in a file of the package."""
    space = {"__name__": "sample"}
    exec(compile(SOURCE, str(way.PACKAGE / "sample.py"), "exec"), space)  # noqa: S102
    return space


@pytest.fixture
def tracer():
    tracer = way.Tracer()
    with tracer.installed():
        yield tracer


def test_functions_calls_and_depth_are_counted(ours, tracer):
    found, result = tracer.record(ours["outer"])
    assert result == [0, 1, 2]
    assert found.files == ["sample.py"]
    assert [code.co_name for code in found.entered] == ["outer", "inner"]
    assert (found.calls, found.depth) == (4, 2)


def test_other_threads_are_counted(ours, tracer):
    def work():
        thread = threading.Thread(target=ours["outer"])
        thread.start()
        thread.join()

    found, _ = tracer.record(work)
    assert (found.calls, found.depth) == (4, 2)


def test_a_thread_that_ran_before_the_record_is_counted(ours, tracer):
    begin, done = threading.Event(), threading.Event()

    def serve():
        begin.wait(10)
        ours["outer"]()
        done.set()

    thread = threading.Thread(target=serve)
    thread.start()
    found, _ = tracer.record(lambda: (begin.set(), done.wait(10)))
    thread.join()
    assert found.calls == 4


def test_nothing_is_counted_outside_a_record(ours, tracer):
    found, _ = tracer.record(lambda: None)
    ours["outer"]()
    assert (found.files, found.calls, found.depth) == ([], 0, 0)


def test_bodies_of_modules_and_classes_are_no_functions(tracer):
    code = compile(SOURCE, str(way.PACKAGE / "sample.py"), "exec")
    found, _ = tracer.record(lambda: exec(code, {"__name__": "sample"}))  # noqa: S102
    assert [each.co_name for each in found.entered] == ["inner"]


def test_a_limit_that_is_exceeded_is_named():
    row = dict.fromkeys(way.COLUMNS, 5)
    limits = {"question": 4, "verify": 5, "ingest": None, "depth": None}
    assert way.exceeded(dict.fromkeys(way.ROWS, row), limits) == ["question: files 5, at most 4"]
    limits = {**dict.fromkeys(way.ROWS), "depth": 4}
    assert len(way.exceeded(dict.fromkeys(way.ROWS, row), limits)) == 3


def test_the_table_has_the_named_rows_and_columns():
    lines = way.table(dict.fromkeys(way.ROWS, dict.fromkeys(way.COLUMNS, 1))).splitlines()
    assert tuple(lines[0].split()) == way.COLUMNS
    assert tuple(line.split()[0] for line in lines[1:]) == way.ROWS
