"""Build the thesaurus of the support checks from the WordNet 3.1 database files.

    python benchmarks/build_thesaurus.py WORDNET_DICT_DIR

Writes `grounded_rag/verification/support/thesaurus.txt.gz`: the commonest senses of common single
words, by stem, with their broader senses and opposites. WordNet's licence permits this with its
notice, which is kept in NOTICE.
"""

from __future__ import annotations

import gzip
import sys
from collections import defaultdict
from pathlib import Path

from grounded_rag.text.stems import stem

TARGET = Path(__file__).parent.parent / "grounded_rag/verification/support/thesaurus.txt.gz"
SENSES = {"n": 3, "v": 5, "a": 4, "r": 3}
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
POS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}


def senses(folder: Path) -> dict[str, list[tuple[str, int]]]:
    """Return the commonest senses of each single lower-case word as (synset, times tagged)."""
    found: dict[tuple[str, str], list[tuple[int, str, int]]] = defaultdict(list)
    for line in (folder / "index.sense").read_text(encoding="ascii").splitlines():
        key, offset, number, count = line.split()
        lemma, _, kind = key.partition("%")
        if lemma.isalpha() and len(lemma) > 1:
            pos = POS[kind[0]]
            found[lemma, pos].append((int(number), pos + offset, int(count)))
    words: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for (lemma, pos), entries in found.items():
        entries.sort()
        for number, synset, count in entries[: SENSES[pos]]:
            if number == 1 or count > 0:
                words[lemma].append((synset, count))
    return {w: s for w, s in words.items() if any(count for _, count in s) or len(w) < 9}


def relations(folder: Path) -> tuple[dict[str, list[str]], dict[str, list[str]], set[str]]:
    """Return broader synsets, pairs of opposites by word, and synsets of names."""
    broader: dict[str, list[str]] = defaultdict(list)
    opposites: dict[str, list[str]] = defaultdict(list)
    names: set[str] = set()
    members: dict[str, list[str]] = {}
    pending: list[tuple[str, int, str, int]] = []
    for pos, name in FILES.items():
        for line in (folder / f"data.{name}").read_text(encoding="ascii").splitlines():
            if line.startswith("  "):
                continue
            fields = line.partition(" | ")[0].split()
            synset = pos + fields[0]
            (count,) = bytes.fromhex(fields[3])
            members[synset] = [fields[4 + 2 * i].lower().partition("(")[0] for i in range(count)]
            at = 4 + 2 * count
            for step in range(int(fields[at])):
                symbol, offset, target_pos, ends = fields[at + 1 + 4 * step : at + 5 + 4 * step]
                target = target_pos.replace("s", "a") + offset
                if symbol == "@":
                    broader[synset].append(target)
                elif symbol == "@i":
                    names.add(synset)
                elif symbol == "&" and fields[2] == "s":  # a satellite adjective to its head
                    broader[synset].append(target)
                elif symbol == "!":
                    source, other = bytes.fromhex(ends)
                    pending.append((synset, source, target, other))
    groups: dict[str, int] = defaultdict(int)
    for synset, ups in broader.items():
        if synset.startswith("a"):
            groups[ups[0]] += 1
    # A head with many satellites ("chromatic") holds words that exclude one another.
    for synset in [s for s, ups in broader.items() if s.startswith("a") and groups[ups[0]] > 30]:
        del broader[synset]
    for synset, source, target, other in pending:
        left = members[synset][source - 1]
        right = members[target][other - 1]
        if left.isalpha() and right.isalpha():
            opposites[left].append(right)
    return broader, opposites, names


def main() -> None:
    """Write the table."""
    folder = Path(sys.argv[1])
    words = senses(folder)
    broader, opposites, names = relations(folder)
    table: dict[str, dict[str, int]] = defaultdict(dict)
    for word, entries in words.items():
        for synset, count in entries:
            if synset not in names:
                best = table[stem(word)].get(synset, 0)
                table[stem(word)][synset] = max(best, count)
    numbers: dict[str, int] = {}
    used = {synset for entries in table.values() for synset in entries}
    frontier = set(used)
    while frontier:
        frontier = {up for synset in frontier for up in broader.get(synset, ())} - used
        used |= frontier
    for synset in sorted(used):
        numbers[synset] = len(numbers)
    lines = [
        "\t".join(
            (word, " ".join(str(numbers[s]) for s in sorted(entries, key=lambda s: -entries[s])))
        )
        for word, entries in sorted(table.items())
        if entries
    ]
    ups = [" ".join(str(numbers[up]) for up in broader.get(synset, ())) for synset in sorted(used)]
    pairs = sorted(
        {
            f"{stem(left)} {stem(right)}"
            for left, rights in opposites.items()
            for right in rights
            if left in words and right in words
        }
    )
    nouns = [numbers[synset] for synset in used if synset.startswith("n")]
    head = f"{min(nouns)} {max(nouns)}"
    text = "\n=\n".join((head, "\n".join(lines), "\n".join(ups), "\n".join(pairs)))
    TARGET.write_bytes(gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0))
    print(
        f"{len(lines)} stems, {len(ups)} senses, {len(pairs)} opposites: {TARGET.stat().st_size} B"
    )


if __name__ == "__main__":
    main()
