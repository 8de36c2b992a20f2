"""A text as a model sees it, word piece by word piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The vectors of the word pieces of one text, each as it stands in its sentence.

    Attributes:
        rows: One unit vector a piece, special pieces left out; at least two dimensions.
        mean: The unit vector of the whole text.
        places: Where each piece stands in the text: start and end, in code points.
        ranks: Rank of each piece in a vocabulary that is ordered by frequency.
    """

    rows: NDArray[Any]
    mean: NDArray[Any]
    places: tuple[tuple[int, int], ...]
    ranks: tuple[int, ...]
