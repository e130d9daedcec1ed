"""Put the Markdown of each page beside it in `build/site`, then check the site: `python docs/site/check.py`.

Each link inside leads to a file and an anchor that exist, `llms.txt` lists the pages, and no page fetches anything from
elsewhere. Scripts of the theme name other hosts, for what no page may have: diagrams, and the counts of a repository.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdownify import markdownify
from selectolax.lexbor import LexborHTMLParser as Tree

ROOT = Path(__file__).parents[2]
PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"
BASE = "/toulmin/"  # where the site is published; only the page for what is not found names it
FETCHED = (
    "script[src], img[src], iframe[src], source[srcset], video[src], object[data], link:not([rel=canonical])[href]"
)
FETCHING = ".mermaid, [data-md-component=source]"


def write_twin(page: str) -> None:
    source, twin = PAGES / page, SITE / page
    text = source.read_text("utf-8")
    # Elsewhere a pipe in the code of a table is escaped.
    twin.write_text(
        re.sub(r"(?<=[^`])`[^`\n]+`(?=.*\|$)", lambda code: code[0].replace("|", r"\|"), text, flags=re.M), "utf-8"
    )
    if re.search("^::: ", text, re.MULTILINE):  # made of docstrings
        (article,) = Tree(twin.with_suffix(".html").read_text("utf-8")).css("article")
        text = markdownify(article.html or "", heading_style="ATX", strip=["script"])
        twin.write_text(re.sub(r'\[¶\]\(#\S+ "[^"]*"\)', "", text), "utf-8")


def faults(page: str, tree: Tree, anchors: dict[str, set[str]]) -> Iterator[str]:
    """What is wrong with the links of a page, and what it would fetch."""
    for node in tree.css("a[href]"):
        link = urlsplit(unquote(str(node.attributes["href"])))
        path = link.path.removeprefix(BASE)
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path or posixpath.basename(page)))
        target = posixpath.join(target, "index.html").removeprefix("./") if (SITE / target).is_dir() else target
        if not link.scheme and not (SITE / target).is_file():
            yield f"{page}: {link.geturl()} leads nowhere"
        elif not link.scheme and link.fragment and link.fragment not in anchors.get(target, set()):
            yield f"{page}: {link.geturl()} has no such anchor"
    for node in tree.css(FETCHED):
        yield from (
            f"{page}: fetches {text}" for text in node.attributes.values() if re.match("(https?:)?//", text or "")
        )
    yield from (f"{page}: {node.tag} makes the theme fetch" for node in tree.css(FETCHING))


def main() -> int:
    pages = {path.relative_to(PAGES).as_posix() for path in PAGES.rglob("*.md")}
    for page in pages:
        write_twin(page)
    trees = {path.relative_to(SITE).as_posix(): Tree(path.read_text("utf-8")) for path in SITE.rglob("*.html")}
    anchors = {page: {str(node.attributes["id"]) for node in tree.css("[id]")} for page, tree in trees.items()}
    problems = [fault for page, tree in sorted(trees.items()) for fault in faults(page, tree, anchors)]
    styles = "".join(path.read_text("utf-8") for path in SITE.rglob("*.css"))
    problems += [f"a style fetches {text}" for text in re.findall(r"(?:url\(|@import)\W*(?:https?:)?//.{9}", styles)]
    listed = set(re.findall(r"\]\((\S+?\.md)\)", (SITE / "llms.txt").read_text("utf-8")))
    problems += [f"llms.txt: {page}" for page in listed ^ {page for page in pages if "decisions/0" not in page}]
    print(*problems, f"{len(trees)} pages, {len(problems)} problems", sep="\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
