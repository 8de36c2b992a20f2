"""What the environment may change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from grounded_rag import Policy

_CACHE = Path("~/.cache/grounded-rag-chatbot").expanduser()


class Settings(BaseSettings):
    """Settings of the service; each is read from `CHATBOT_` and its name.

    Attributes:
        generator: Who writes the drafts; `GENERATOR` alone works too. See `GroundedRAG`.
        unproven: `restate` shows the source's own sentence in the place of one that nothing has
            shown, and marks it; `reask` asks the generator again; `refuse` refuses.
        on_failed_claim: `refuse` answers only when every sentence has passed; `drop` shows each
            as soon as it has passed, and leaves out what did not.
        host: Address to listen on; keep the loopback address unless a proxy guards the service.
        port: Port to listen on; 0 takes a free one.
        allowed_hosts: Host names that requests may carry, against DNS rebinding.
        corpora: Folders offered beside the demo corpus, by name, as JSON.
        demo: Whether the demo corpus is offered.
        data: Folder of indexes and feedback.
        limits: Whether requests are limited; off only to measure.
        asks_per_minute: Questions of one session a minute.
        asks_per_minute_address: Questions from one address a minute.
        sessions_per_minute_address: New sessions from one address a minute.
        uploads_per_minute: Uploads of one session a minute.
        running: Questions that are worked on at once.
        waiting: Questions that may wait for their turn.
        most_sessions: Sessions kept; the one idle longest goes first.
        session_seconds: Idle seconds after which a session and its uploads are deleted.
        most_uploads: Documents of one session.
        upload_bytes: Largest document, in bytes.
        question_characters: Longest question.
    """

    model_config = SettingsConfigDict(
        env_prefix="CHATBOT_", extra="ignore", frozen=True, populate_by_name=True
    )

    generator: str = Field(
        default="extractive", validation_alias=AliasChoices("CHATBOT_GENERATOR", "GENERATOR")
    )
    unproven: Literal["restate", "reask", "refuse"] = "restate"
    on_failed_claim: Literal["refuse", "drop"] = "refuse"
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8765
    allowed_hosts: tuple[str, ...] = ("127.0.0.1", "localhost")
    corpora: dict[str, Path] = Field(default_factory=dict)
    demo: bool = True
    data: Path = _CACHE
    limits: bool = True
    asks_per_minute: Annotated[int, Field(ge=1)] = 20
    asks_per_minute_address: Annotated[int, Field(ge=1)] = 60
    sessions_per_minute_address: Annotated[int, Field(ge=1)] = 30
    uploads_per_minute: Annotated[int, Field(ge=1)] = 6
    running: Annotated[int, Field(ge=1)] = 4
    waiting: Annotated[int, Field(ge=0)] = 16
    most_sessions: Annotated[int, Field(ge=1)] = 200
    session_seconds: Annotated[float, Field(gt=0)] = 3600.0
    most_uploads: Annotated[int, Field(ge=1)] = 5
    upload_bytes: Annotated[int, Field(ge=1)] = 10_000_000
    question_characters: Annotated[int, Field(ge=1)] = 2_000

    @property
    def policy(self) -> Policy:
        """The rules for answers."""
        return Policy(unproven=self.unproven, on_failed_claim=self.on_failed_claim)
