"""The commands that serve, over HTTP and over MCP, and the one that lists all commands to a shell."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from toulmin.cli import options
from toulmin.cli.evaluation_commands import app
from toulmin.cli.options import settings_from
from toulmin.errors import UsageError

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
    per_client: int = 32,
    trust_proxy: Names = (),
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
    per_client
        Requests of one address that are answered at once; those of this machine are not counted.
    trust_proxy
        An address or network whose X-Forwarded-For is believed; repeatable.
    """
    import asyncio
    import logging
    import webbrowser
    from threading import Thread

    from toulmin.build import jobs
    from toulmin.build.sources import FIRST_SECONDS, index_docs, skip_notes, sources_of
    from toulmin.cli import show
    from toulmin.models.server import key_from

    _check_extra("serve", "server")
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
    token = token or (key.reveal() if key else None)
    door = Door(host, port, token, allow_host, allow_origin, grace, per_client, trust_proxy)
    door.rules()
    chosen = settings_from(set_, index=index, method=method, model=model, verifier=verifier, judge=judge)
    jobs.method(chosen.method)
    sources = sources_of(docs or None, index)
    with show.indexing() as on_progress:
        indexed = index_docs(sources, chosen, on_progress, FIRST_SECONDS)
    reread = partial(index_docs, sources, chosen, within=FIRST_SECONDS)
    if not logging.getLogger("toulmin").level:  # else the log has them
        show.notes(skip_notes(indexed.skipped))
    if indexed.unread:  # ends with the server; the next one goes on
        Thread(target=index_docs, args=(sources, chosen), daemon=True).start()
    asyncio.run(serve(indexed.sources, chosen, door, ready, reread=reread))
    return 0


@app.command
def mcp(*, index: options.Index = None, docs: options.Docs = (), set_: options.Sets = ()) -> int:
    """Gives an assistant the tools ask, check, search and fetch over the Model Context Protocol (standard streams).

    Example:  toulmin mcp --index library/
    """
    import asyncio

    from toulmin.build.sources import index_docs, sources_of

    _check_extra("mcp", "mcp", "mcp")
    from toulmin.server.serve import serve_tools

    chosen = settings_from(set_, index=index)
    ready = index_docs(sources_of(docs or None, index), chosen).sources
    asyncio.run(serve_tools(ready, chosen))
    return 0


@app.command
def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
    """Prints what makes the Tab key complete commands and options in a shell.

    Example:  toulmin completion bash > ~/.local/share/bash-completion/completions/toulmin

    zsh reads it as ~/.zfunc/_toulmin, fish as ~/.config/fish/completions/toulmin.fish.

    Parameters
    ----------
    shell
        bash, zsh or fish.
    """
    print(app.generate_completion(shell=shell))


def _check_extra(command: str, extra: str, *libraries: str) -> None:
    from toulmin.cli import doctor

    if absent := doctor.absent_libraries(*doctor.SERVER, *libraries):
        what = f"`toulmin {command}` needs the extra `{extra}`, but {absent} is not installed"
        raise UsageError(f"{what}; run: pip install 'toulmin[{extra}]'")
