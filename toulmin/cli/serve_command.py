"""The commands that serve: over HTTP and over MCP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toulmin.cli import options
from toulmin.cli.evaluation_commands import app
from toulmin.cli.options import settings_from

__all__ = ["app"]

Names = Annotated[tuple[str, ...], Parameter(consume_multiple=False)]


@app.command
def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8420,
    index: options.Index = None,
    docs: options.Docs = (),
    token: str | None = None,
    token_file: Path | None = None,
    allow_host: Names = (),
    allow_origin: Names = (),
    method: str | None = None,
    model: options.Model = None,
    verifier: options.Verifier = None,
    judge: options.JudgeSpec = None,
    open: bool = False,
    grace: int = 5,
    set_: options.Sets = (),
) -> int:
    """Serves the page, the HTTP API and OpenAI's routes over an index; Ctrl-C ends it.

    Example:  toulmin serve --index library/

    Parameters
    ----------
    host
        The address to listen on. An address that other machines can reach needs a token.
    port
        The port to listen on.
    token
        What every request must send (default: TOULMIN_TOKEN, which other users of the machine cannot see).
    token_file
        A file that holds the token and that only its owner can read.
    allow_host
        Another host name that requests may use; repeatable.
    allow_origin
        Another page that may send requests, as https://name; repeatable.
    method
        How to answer where a request names no method (default: best).
    open
        Open the page in this machine's browser.
    grace
        Seconds that running answers have to end when the server stops.
    """
    import asyncio
    import logging
    import webbrowser
    from threading import Thread

    from toulmin.build import jobs
    from toulmin.build.sources import FIRST_SECONDS, index_docs, skip_notes, sources_of
    from toulmin.cli import show
    from toulmin.models.server import key_from
    from toulmin.server.serve import Door, serve

    log = logging.getLogger("toulmin.cli")

    def ready(address: str) -> None:
        if log.isEnabledFor(logging.INFO):
            log.info("listening at %(address)s", {"address": address})
        else:
            show.serving(address)
        if open:
            webbrowser.open(address)

    key = key_from(os.environ, "TOULMIN_TOKEN", token_file)
    door = Door(host, port, token or (key.reveal() if key else None), allow_host, allow_origin, grace)
    door.rules()
    chosen = settings_from(set_, index=index, method=method, model=model, verifier=verifier, judge=judge)
    jobs.method(chosen.method)
    sources = sources_of(docs or None, index)
    with show.indexing() as on_progress:
        indexed = index_docs(sources, chosen, on_progress, FIRST_SECONDS)
    if not logging.getLogger("toulmin").level:  # else the log has them
        show.notes(skip_notes(indexed.skipped))
    if indexed.unread:  # ends with the server; the next one goes on
        Thread(target=index_docs, args=(sources, chosen), daemon=True).start()
    asyncio.run(serve(indexed.sources, chosen, door, ready))
    return 0


@app.command
def mcp(*, index: options.Index = None, docs: options.Docs = (), set_: options.Sets = ()) -> int:
    """Gives an assistant the tools ask, check, search and fetch over the Model Context Protocol (standard streams).

    Example:  toulmin mcp --index library/
    """
    import asyncio
    from importlib.util import find_spec

    from toulmin.build.sources import index_docs, sources_of
    from toulmin.errors import UsageError

    if find_spec("mcp") is None:
        raise UsageError("The Model Context Protocol needs its library; install it with: pip install 'toulmin[mcp]'")
    from toulmin.server.serve import serve_tools

    chosen = settings_from(set_, index=index)
    ready = index_docs(sources_of(docs or None, index), chosen).sources
    asyncio.run(serve_tools(ready, chosen))
    return 0
