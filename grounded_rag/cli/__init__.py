"""The command line `grounded-rag`: thin commands over the package's public names.

`app` lists the commands; each module holds those of one subject with their views for people.
`options` has what commands share on the command line, `settings` what a settings file may say, and
`terminal` how anything is printed. An option is what a person types for one call: what to ask, of
which documents, and where the result goes. What shapes answers and runs is a setting.

Exit codes: 0 done, answered or good; 1 an error; 2 wrong usage; 3 done, with a result that needs a
look: refused, not accepted, out of date, below the gate; 130 interrupted.
"""

from grounded_rag.cli.app import main

__all__ = ["main"]
