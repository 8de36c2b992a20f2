"""What every response carries, and what every request must."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # Even our own script cannot turn a string into HTML.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
OWN_HEADER = "x-chatbot"
"""Pages of other origins cannot send it without asking, and they are never allowed to."""


class Guard:
    """Adds the security headers, and refuses writing requests that the page did not make."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                # The page changes with the service; answers belong to one person.
                headers.setdefault(
                    "cache-control",
                    "no-store" if scope["path"].startswith("/api/") else "no-cache",
                )
            await send(message)

        if scope["method"] not in ("GET", "HEAD") and OWN_HEADER not in Headers(scope=scope):
            refused = JSONResponse(
                {"error": "forbidden", "message": f"The header {OWN_HEADER} is missing."},
                status_code=403,
            )
            await refused(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)
