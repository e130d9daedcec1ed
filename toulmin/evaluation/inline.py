"""Drawings of matplotlib as SVG for pages"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_LEFT_TO_THE_PAGE = ("font-family", "font", "font-style", "font-variant", "font-stretch")


def inline_svg(svg: str, name: str, label: str, inks: Mapping[str, str]) -> str:
    """A drawing of matplotlib as an `<svg>` element, with `label` as its accessible name.

    `inks` maps colours (#rrggbb) to the page's. Style attributes become plain ones, for pages without
    `unsafe-inline`. Ids begin with `name`, so that drawings do not clash.
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
        attribute = _REFERENCE.sub(rf"url(#{name}-\1)", value)
        element.set(key, inks.get(attribute.lower(), attribute) if key in ("fill", "stroke") else attribute)
