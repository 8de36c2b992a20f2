"""Settings: everything that shapes answers and runs, and is no common option of a command.

`--settings` takes a TOML file or one `section.key=value`. All of it is read into one `Settings`,
whose fields and their descriptions also make what `grounded-rag settings` prints, so that the
example cannot fall behind the code.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import BaseModel, Field, ValidationError
from typer.core import TyperCommand

from grounded_rag import Policy
from grounded_rag.config import MODEL_TIMEOUT
from grounded_rag.errors import InputError
from grounded_rag.evaluation.other_systems import Format
from grounded_rag.evaluation.records import Prices
from grounded_rag.types import Frozen


def _from_environment(name: str, about: str, otherwise: str | None = None) -> Any:
    """Return a field whose default an environment variable may give."""
    return Field(
        default_factory=lambda: os.environ.get(name) or otherwise,
        validate_default=True,
        description=about,
    )


class RagSettings(Frozen):
    """Who writes the drafts and who checks them: options of `GroundedRAG`."""

    generator: str = _from_environment(
        "GROUNDED_RAG_GENERATOR",
        "`extractive` (built in, no model), `anthropic`, `anthropic-citations`, or "
        "`PROVIDER/MODEL`; by default what GROUNDED_RAG_GENERATOR says.",
        "extractive",
    )
    threshold: float | None = Field(
        None,
        description="Log-odds below which `extractive` declines: higher refuses more; by default "
        "what `tune` stored in the index.",
    )
    quote_mode: Literal["copy", "label"] = Field(
        "copy",
        description="`copy`: a model copies its quotes; `label`: it names labelled sentences.",
    )
    entailment: Path | None = _from_environment(
        "GROUNDED_RAG_ENTAILMENT",
        "Folder with an ONNX entailment model, which confirms claims in other words; by default "
        "what GROUNDED_RAG_ENTAILMENT says.",
    )
    judge: str | None = _from_environment(
        "GROUNDED_RAG_JUDGE",
        "`anthropic` or `PROVIDER/MODEL`: grades the claims that nothing else confirmed; by "
        "default what GROUNDED_RAG_JUDGE says.",
    )
    timeout: float | None = Field(
        None,
        gt=0,
        description="Most seconds for one call of a named model; at most `policy.max_seconds`. By "
        f"default {MODEL_TIMEOUT:g}, or `policy.max_seconds` where that is less.",
    )
    reranker: Path | None = _from_environment(
        "GROUNDED_RAG_RERANKER",
        "Folder with an ONNX cross-encoder, which puts the passages found in better order; by "
        "default what GROUNDED_RAG_RERANKER says.",
    )
    relevance: bool = Field(
        False, description="Whether to flag answers that may miss the question."
    )
    prompts: Path | None = Field(None, description="Folder with other prompts.")
    refusal: str | None = Field(None, description="Refusal sentence in place of the built-in one.")

    def options(self) -> dict[str, Any]:
        """Return them as keywords of `GroundedRAG.open`."""
        # The values themselves, not `model_dump`: paths stay paths.
        return {name: value for name, value in self if value is not None}


class EvalSettings(Frozen):
    """What only `eval` reads."""

    limit: int | None = Field(
        None, ge=1, description="Ask only so many items, spread over the set."
    )
    concurrency: int = Field(4, ge=1, le=64, description="Questions under way at once.")
    relevance: bool = Field(
        True, description="Whether to score relevance with the index's embedding."
    )
    everything: bool = Field(
        False, description="With --replay: run checks that have not changed again, too."
    )
    factuality: Path | None = Field(
        None,
        description="Model that `calibrate` wrote: shows P(true) of each claim in the HTML report.",
    )
    junit: Path | None = Field(None, description="File for a JUnit XML report.")
    markdown: Path | None = Field(
        None, description="File for a report in GitHub-flavoured Markdown."
    )
    metrics: tuple[str, ...] = Field(
        (), description='Your own metrics, each as "package.module:name"; their code is run.'
    )
    prices: Prices | None = Field(
        None, description="Money for a million tokens of each kind; see `[eval.prices]`."
    )


class AnswersSettings(Frozen):
    """How `eval --answers` reads another system's recorded answers."""

    format: Format = Field(
        "jsonl", description="Shape of the records: `jsonl`, `ragas` or `llamaindex`."
    )
    refusal: str = Field(
        "",
        description="What that system says when it declines, word for word; empty means our "
        "sentence.",
    )


class Settings(Frozen):
    """All settings. A command reads the sections that concern it."""

    policy: Policy = Policy()
    rag: RagSettings = Field(default_factory=RagSettings)
    eval: EvalSettings = EvalSettings()
    answers: AnswersSettings = AnswersSettings()

    def changed(self) -> set[str]:
        """Return the keys that differ from their defaults, such as `policy.k`."""
        return {
            f"{name}.{key}"
            for name, section in self
            for key, value in section
            if value != getattr(type(section)(), key)
        }


def load_settings(given: Sequence[str] | None) -> Settings:
    """Return the settings of `--settings`: files and single ones, later ones over earlier ones.

    Raises:
        typer.BadParameter: One cannot be read, or holds a key or a value that is none.
    """
    merged: dict[str, Any] = {}
    for source in given or ():
        table = _table(source)
        # One by one, so that the message can say where the mistake is.
        _validated(table, source)
        merged = _merged(merged, table)
    return Settings.model_validate(merged)


def _table(source: str) -> dict[str, Any]:
    path = Path(source)
    try:
        if "=" not in source or path.is_file():
            return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _bad(f"{source} cannot be read: {error}.") from error
    key, _, value = source.partition("=")
    # `policy.k=12` is TOML as it stands; `rag.judge=anthropic` is once its value is quoted.
    for text in (source, f"{key} = {json.dumps(value)}"):
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            continue
    raise _bad(f"{source}: {key} is no key.")


def _validated(table: Mapping[str, Any], source: str) -> None:
    try:
        Settings.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        where = "" if source.startswith(key) else f"{source}: "
        if first["type"] != "extra_forbidden":
            raise _bad(f"{where}{key}: {first['msg']}.") from error
        # Either the section was left out, or a letter is wrong.
        near = [each for each in _keys() if each.endswith(f".{key}")]
        near += get_close_matches(key, _keys(), n=1)
        meant = f" Is {near[0]} meant?" if near else ""
        raise _bad(f"{where}there is no setting {key}.{meant}") from error


def _bad(message: str) -> typer.BadParameter:
    return typer.BadParameter(
        f"{message} `grounded-rag settings` prints them all.", param_hint="--settings"
    )


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    both = {**first, **second}
    for key in first.keys() & second.keys():
        if isinstance(first[key], dict) and isinstance(second[key], dict):
            both[key] = _merged(first[key], second[key])
    return both


def _keys() -> Iterator[str]:
    for name, section in Settings():
        yield from (f"{name}.{key}" for key in type(section).model_fields)


class SettingsCommand(TyperCommand):
    """A command that names the setting where somebody types an option of that name.

    Up to version 0.1 `ask` and `eval` had an option for each of them.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line, unless an option of it is a setting."""
        known = {option for param in self.params for option in param.opts}
        for argument in args:
            if argument == "--":
                break
            option = argument.partition("=")[0]
            if option.startswith("-") and option not in known and (key := self._setting(option)):
                section, _, name = key.partition(".")
                raise typer.BadParameter(
                    f"{option} is a setting: write --settings {key}=VALUE, or {name} under "
                    f"[{section}] in a settings file. `grounded-rag settings` prints them all.",
                    ctx=ctx,
                )
        return super().parse_args(ctx, args)

    def _setting(self, option: str) -> str | None:
        if not any(param.name == "settings" for param in self.params):
            return None
        # `eval` looks into its own sections first: its --refusal was another system's.
        sections = (
            ("eval", "answers", "policy", "rag") if self.name == "eval" else ("policy", "rag")
        )
        name = option.lstrip("-").removeprefix("no-").replace("-", "_")
        return next((f"{each}.{name}" for each in sections if f"{each}.{name}" in _keys()), None)


def settings_toml(settings: Settings) -> str:
    """Return a settings file that stands for `settings`, each key with what it means."""
    lines = [
        "# Settings of grounded-rag, for --settings FILE. What is left out keeps its default.",
        '# A path is seen from the folder that the command runs in; a duration reads "P365D".',
    ]
    for name, section in settings:
        lines += ["", f"# {_summary(type(section))}", f"[{name}]"]
        lines += _section_lines(section)
        if name == "eval":
            prices = section.prices or Prices()
            hidden = "# " if section.prices is None else ""
            lines += ["", f"# {_summary(Prices)}", f"{hidden}[eval.prices]"]
            lines += [f"{hidden}{key} = {_toml(value)}" for key, value in prices]
    return "\n".join(lines) + "\n"


def _section_lines(section: BaseModel) -> Iterator[str]:
    for key, value in section.model_dump(mode="json", exclude={"prices"}).items():
        about = type(section).model_fields[key].description or ""
        yield from textwrap.wrap(about, 96, initial_indent="# ", subsequent_indent="# ")
        yield f"# {key} =" if value is None else f"{key} = {_toml(value)}"


def _toml(value: object) -> str:
    # Numbers, truth values and strings are written in TOML as they are in JSON.
    return json.dumps(value, ensure_ascii=False)


def _summary(model: type[BaseModel]) -> str:
    return inspect.cleandoc(model.__doc__ or "").partition("\n")[0]


def settings(
    given: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE.toml|KEY=VALUE", help="Settings to check and print."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> int:
    """Print a settings file with every key, what it means, and its value.

    Exit code 0: printed. 2: what is given holds a key or a value that is none.
    """
    found = load_settings(given)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        typer.echo(settings_toml(found), nl=False)
    return 0


def load_object(name: str) -> Any:
    """Return what `package.module:name` stands for, such as your own metric or reader.

    Only for names that the person at the command line typed: it runs that module's code.

    Raises:
        InputError: There is no such thing.
    """
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"{name} cannot be loaded: {error}.",
            hint="Write package.module:name, of a module that Python finds (PYTHONPATH).",
        ) from error
