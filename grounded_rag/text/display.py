"""Text for a terminal or a log: without characters that steer it or reorder its line."""

# Defined where public values print themselves, below this package.
from grounded_rag.types._base import one_line as one_line
from grounded_rag.types._base import safe as safe
