"""Writes what an environment holds as a CycloneDX 1.6 document: `python .ci/sbom.py DIST`, run by its own Python.

DIST holds the built files of this project, whose hashes are listed. Nothing depends on the time or the machine, so that
the same release gives the same document.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

OWN = ("toulmin", "toulmin-weights", "toulmin-weights-judge")
TOOLS = {"pip", "setuptools", "wheel"}


def main(dist: Path) -> None:
    listed = {name_of(each): component(each) for each in distributions() if name_of(each) not in TOOLS}
    for name in [name for name in OWN if name in listed]:
        listed[name]["properties"] = [
            {"name": f"sha256 of {file.name}", "value": hashlib.sha256(file.read_bytes()).hexdigest()}
            for file in sorted(dist.glob(f"{name.replace('-', '_')}-[0-9]*"))
        ]
    main_component = {**listed.pop(OWN[0]), "type": "application"}
    rest = sorted(listed.values(), key=lambda each: str(each["name"]))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": main_component},
        "components": rest,
        "dependencies": [{"ref": main_component["bom-ref"], "dependsOn": [each["bom-ref"] for each in rest]}],
    }
    print(json.dumps(document, indent=1))


def name_of(each: Distribution) -> str:
    return each.metadata["Name"].lower().replace("_", "-")


def component(each: Distribution) -> dict[str, Any]:
    purl = f"pkg:pypi/{name_of(each)}@{each.version}"
    about = {"type": "library", "bom-ref": purl, "name": name_of(each), "version": each.version, "purl": purl}
    fields = each.metadata.json
    expression = str(fields.get("license_expression", ""))
    words = expression or str(fields.get("license", "")).strip().split("\n")[0][:100]
    licence = {"expression": words} if expression else {"license": {"name": words}}
    return {**about, **({"licenses": [licence]} if words else {})}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
