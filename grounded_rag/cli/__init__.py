"""The command line: `grounded-rag ingest | ask | verify | status | receipt | demo`.

Exit codes: 0 answered or done, 1 an error, 2 wrong usage, 3 refused, not accepted or out of date.
"""

from grounded_rag.cli.app import main

__all__ = ["main"]
