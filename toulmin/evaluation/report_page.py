"""The report as one HTML file that fetches nothing and shows its content as text.

Scripts draw a block of JSON by `textContent` alone. The page's policy allows them and the style by hash, and no
request.
"""

from __future__ import annotations

import base64
import hashlib
import html as markup
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources

from toulmin import __version__
from toulmin.evaluation.report_contents import Beside, Plot, RunShown, contents

WITHOUT_PLOTS = "The plots are left out: drawing them needs matplotlib (pip install 'toulmin[plots]')."

_SCRIPTS = ("elements.js", "values.js", "answers.js", "behind.js", "page.js")  # joined in this order, one module


def html(
    runs: Sequence[RunShown],
    beside: Sequence[Beside] = (),
    plots: Sequence[Plot] | None = None,
    *,
    title: str = "Comparison",
) -> str:
    """The page of some runs; the same input gives the same page.

    `beside` are differences to the first run. With None for `plots` the page says that their extra is missing.
    """
    style, script = _asset("page.css"), "\n".join(map(_asset, _SCRIPTS))
    page_data = contents(runs, beside, title) | {
        "version": __version__,
        "remark": WITHOUT_PLOTS if plots is None else None,
    }
    return _asset("shell.html").format(
        policy=_policy(style, script),
        version=__version__,
        title=markup.escape(_whole(title)),
        style=style,
        plots="".join(map(_figure, plots or ())),
        data=_data(page_data),
        script=script,
    )


def _asset(name: str) -> str:
    return resources.files("toulmin.evaluation").joinpath("report", name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _figure(plot: Plot) -> str:
    """The drawing needs no escaping: `inline_svg` serialised it."""
    caption = f"<figcaption>{markup.escape(_whole(plot.caption))}</figcaption>"
    return f"<figure><h3>{markup.escape(_whole(plot.title))}</h3>{plot.inline}{caption}</figure>"


def _data(page_data: Mapping[str, object]) -> str:
    """JSON that cannot end a script or open a comment."""
    written = json.dumps(page_data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = written.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return _whole(safe)


def _whole(text: str) -> str:
    """Lone surrogates have no UTF-8."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)
