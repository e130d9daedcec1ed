"""The command that serves: HTTP and the page."""

from __future__ import annotations

import os
from typing import Annotated

from cyclopts import Parameter

from toulmin.cli.commands import Docs, Sets, settings_from
from toulmin.cli.evaluation_commands import app

__all__ = ["app"]

Names = Annotated[tuple[str, ...], Parameter(consume_multiple=False)]


@app.command
def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8420,
    index: str | None = None,
    docs: Docs = (),
    token: str | None = None,
    allow_host: Names = (),
    allow_origin: Names = (),
    method: str | None = None,
    model: str | None = None,
    verifier: str | None = None,
    judge: str | None = None,
    open: bool = False,
    set_: Sets = (),
) -> int:
    """Serves the page, the HTTP API and OpenAI's routes over an index; Ctrl-C ends it.

    Example:  toulmin serve --index library/

    Parameters
    ----------
    host
        The address to listen on. Another than this machine's own needs a token.
    port
        The port to listen on.
    index
        The folder of an index made by `toulmin index`, or an address such as s3://BUCKET/CORPUS (default: .toulmin).
    docs
        A file or folder to answer from in place of an index; may be given again.
    token
        What every request must bring (default: TOULMIN_TOKEN, which other users of the machine do not see).
    allow_host
        A name by which the server may be called, beside its own; may be given again.
    allow_origin
        Another page that may ask here, as https://name; may be given again.
    method
        How to answer where a request names no method (default: best).
    model
        The writer, as provider:model (default: extractive, the embedded one).
    verifier
        A second model, for methods that contrast two.
    judge
        What decides support.
    open
        Open the page in this machine's browser too.
    set_
        NAME=VALUE: any other setting; may be given again.
    """
    import asyncio
    import webbrowser

    from toulmin.build import jobs
    from toulmin.build.sources import index_docs, skip_notes, sources_of
    from toulmin.cli import show
    from toulmin.server.serve import Door, serve

    def ready(address: str) -> None:
        show.serving(address)
        if open:
            webbrowser.open(address)

    door = Door(host, port, token or os.environ.get("TOULMIN_TOKEN") or None, allow_host, allow_origin)
    door.rules()
    chosen = settings_from(set_, index=index, method=method, model=model, verifier=verifier, judge=judge)
    jobs.method(chosen.method)
    sources = sources_of(docs or None, index, None, None)
    with show.indexing() as on_progress:
        found, skipped = index_docs(sources, chosen, on_progress)
    show.notes(skip_notes(skipped))
    asyncio.run(serve(found, chosen, door, ready))
    return 0


@app.command
def mcp(*, index: str | None = None, docs: Docs = (), set_: Sets = ()) -> int:
    """Gives an assistant the tools ask, check, search and fetch, by the Model Context Protocol over its pipes.

    Example:  toulmin mcp --index library/

    Parameters
    ----------
    index
        The folder of an index made by `toulmin index`, or an address such as s3://BUCKET/CORPUS (default: .toulmin).
    docs
        A file or folder to answer from in place of an index; may be given again.
    set_
        NAME=VALUE: any setting; may be given again.
    """
    import asyncio
    from importlib.util import find_spec

    from toulmin.build.sources import index_docs, sources_of
    from toulmin.errors import UsageError

    if find_spec("mcp") is None:
        raise UsageError("The Model Context Protocol needs its library; install it with: pip install 'toulmin[mcp]'")
    from toulmin.server.serve import serve_tools

    chosen = settings_from(set_, index=index)
    ready, _ = index_docs(sources_of(docs or None, index, None, None), chosen)
    asyncio.run(serve_tools(ready, chosen))
    return 0
