"""A drawing of matplotlib made fit to stand in a page: the page's ink and fonts, no styles, names of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_LEFT_TO_THE_PAGE = ("font-family", "font", "font-style", "font-variant", "font-stretch")


def inlined(svg: str, name: str, label: str, inks: Mapping[str, str]) -> str:
    """The drawing as an element of a page, called `label` to whoever does not see it.

    `inks` replaces colours, written as #rrggbb, by what the page calls them. Style attributes become attributes of
    their own, which a page without `unsafe-inline` allows; every id begins with `name`, so that drawings of one page
    do not take each other's.
    """
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        _clean(element, name, inks)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-label", label)
    ElementTree.register_namespace("", _SVG)
    return ElementTree.tostring(root, encoding="unicode")


def _clean(element: ElementTree.Element, name: str, inks: Mapping[str, str]) -> None:
    for part in element.attrib.pop("style", "").split(";"):
        key, _, value = part.partition(":")
        if value and key.strip() not in _LEFT_TO_THE_PAGE:
            element.set(key.strip(), value.strip())
    reference = element.attrib.pop(_XLINK, None)
    if reference:
        element.set("href", f"#{name}-{reference.removeprefix('#')}")
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.attrib['id']}")
    for key, value in element.attrib.items():
        told = _REFERENCE.sub(rf"url(#{name}-\1)", value)
        element.set(key, inks.get(told.lower(), told) if key in ("fill", "stroke") else told)
