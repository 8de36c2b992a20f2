"""Time of locating a quote against the size of its input: it must grow no faster than linearly.

    python benchmarks/locate_scaling.py [--largest 1000000]

The text grows to 1 MB and the quote with it to 100 kB. The quotes are hostile: repeats, blanks,
hyphens, marks, half of a ligature. Times are CPU times, the lesser of two runs; the slope is that
of a line on a plot with both axes logarithmic.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from grounded_rag.types import Citation
from grounded_rag.verification.citations import check_citation
from grounded_rag.verification.passages import Passages, read_chunks

SIZES = (62_500, 125_000, 250_000, 500_000, 1_000_000)
STEEPEST = 1.2


class Shape(NamedTuple):
    """What text and quote are made of, and how the quote ends."""

    text: str
    quote: str
    end: str = ""


SHAPES = {
    "one letter": Shape("a", "a"),
    "'ab' over and over": Shape("ab ", "ab ", "x"),
    "all spaces": Shape(" ", " "),
    "spaces and a word": Shape("  a", " ", "b"),
    "all hyphens": Shape("-", "-", "x"),
    "line-end hyphens": Shape("ab-\n", "ab", "-"),
    "combining marks": Shape("e\u0301", "e\u0301", "x"),
    "marks without a base": Shape("\u0301", "\u0301", "x"),
    "half of a ligature": Shape("\ufb01", "if"),
    "emphasis": Shape("_a_ ", "a ", "b"),
    "unpaired emphasis": Shape("*a ", "a ", "b"),
    "links": Shape("[a](/b) ", "a ", "b"),
    "entities": Shape("&amp;", "&", "x"),
    "table rows": Shape("| a | b |\n", "a b "),
    "line breaks": Shape("\n", " ", "x"),
    "lost characters": Shape("a \ufffdb ", "a fib ", "x"),
    "wrapped CJK": Shape("定\n", "定 ", "x"),
    "prose": Shape("The lift must stop at floor 12 now. ", "lift must stop at floor 12 then. The "),
}


def seconds(shape: Shape, size: int) -> float:
    """Return the CPU seconds for one citation over a text of `size` characters."""
    text = (shape.text * (size // len(shape.text) + 1))[:size]
    quote = (shape.quote * (size // 10 // len(shape.quote) + 1))[: size // 10] + shape.end
    passages = Passages(read_chunks([{"id": "c", "text": text}]))
    citation = Citation(chunk_id="c", quote=quote)
    return _timed(lambda: check_citation(citation, "The lift must stop.", passages))


def _timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def slope(sizes: list[int], times: list[float]) -> float:
    """Return the slope of the line through the points on logarithmic axes, by least squares."""
    xs = [math.log(size) for size in sizes]
    ys = [math.log(max(value, 1e-6)) for value in times]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - mean_x) ** 2 for x in xs)


def main() -> int:
    """Print the table; 1 where a shape grows faster than linearly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="largest text, characters")
    largest = parser.parse_args().largest
    sizes = [size for size in SIZES if size <= largest]
    print(
        f"{'seconds by size of the text':28}"
        + "".join(f"{size:>10,}" for size in sizes)
        + "  slope"
    )
    steep = []
    for name, shape in SHAPES.items():
        times = [min(seconds(shape, size) for _ in range(2)) for size in sizes]
        grown = slope(sizes, times)
        if grown > STEEPEST and times[-1] > 0.2:
            steep.append(name)
        print(f"{name:28}" + "".join(f"{value:10.3f}" for value in times) + f"  {grown:5.2f}")
    print(f"steeper than {STEEPEST}: {', '.join(steep) or 'none'}")
    return 1 if steep else 0


if __name__ == "__main__":
    sys.exit(main())
