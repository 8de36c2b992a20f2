"""Blocks of code in a text: what is one, and where it begins and ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.text.code import code_blocks
from grounded_rag.text.sentences import LineKind, group_units, sentence_bounds


def codes(text):
    return [block.inner.of(text) for block in code_blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run:\n```sh\nmake all\n\n# note\nmake go\n```\nDone.", ["make all\n\n# note\nmake go"]),
        ("~~~\na | b\n~~~", ["a | b"]),
        ("Run this:\n\n    make all\n\n    make go\n\nDone.", ["make all\n\n    make go"]),
        ("Run this:\n\tmake all", ["make all"]),
        ("Open:\n```\nnever closed", ["never closed"]),
        ("1. First:\n\n   ```\n   x = 1\n   ```\n2. Second", ["x = 1"]),
        # A paragraph that is moved in, and a list, are no code.
        ("He came home.\n\n    The house was dark.", []),
        ("We need:\n\n    - a passport\n    - a photo", []),
        ("We need:\n\n    1. a passport", []),
        ("Use `x` and ``y``.", []),
        ("```\n```", []),
    ],
)
def test_what_is_code(text, expected):
    assert codes(text) == expected


def test_code_is_a_unit_of_its_own_and_no_heading_list_or_table():
    text = "# Use\n\nRun:\n\n```\n# comment\n- x\na | b | c\n```\n\n- item\n"
    kinds = [unit.kind for unit in group_units(text)]
    assert kinds == [LineKind.HEADING, LineKind.TEXT, LineKind.CODE, LineKind.ITEM]


def test_each_block_that_is_moved_in_is_a_unit_at_its_own_place():
    text = "Run:\n\n    a = 1\n\nThen:\n\n    b\n    c\n\nThen:\n```\nd\n```\nend\n"
    units = group_units(text)
    found = [text[unit.start : unit.end] for unit in units if unit.kind is LineKind.CODE]
    assert found == ["a = 1", "b\n    c", "```\nd\n```"]
    assert [unit.start for unit in units] == sorted(unit.start for unit in units)


PIECES = st.sampled_from(
    [
        "Run:\n",
        "    a = 1\n",
        "\n",
        "```\n",
        "Text here.\n",
        "- item\n",
        "\tb\n",
        "  c: d:\n",
        "| x | y |\n",
    ]
)


@given(
    st.lists(PIECES, max_size=14).map("".join)
    | st.text(st.sampled_from("`~ab:.\n \t-#|1"), max_size=80)
)
def test_blocks_are_disjoint_ordered_and_covered(text):
    end = 0
    for block in code_blocks(text):
        assert end <= block.outer.start <= block.inner.start < block.inner.end <= block.outer.end
        end = block.outer.end
    covered = [False] * len(text)
    for start, stop in sentence_bounds(text):
        assert not any(covered[start:stop])
        covered[start:stop] = [True] * (stop - start)
    assert all(seen or sign.isspace() for seen, sign in zip(covered, text, strict=True))
