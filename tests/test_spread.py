"""Runs and scores on a Ray cluster: the same as in this process, whatever is killed, and refusals that help."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

import toulmin
from tests.ray_cluster import Cluster, until
from tests.tiny_encoders import sentence_bert
from toulmin import demo
from toulmin.build.indexes import open_index
from toulmin.driver.ray_crew import CROWDED, Crew, Node, Where, crew
from toulmin.errors import ModelError, UsageError
from toulmin.evaluation.run_journal import entries
from toulmin.evaluation.running import Limits
from toulmin.retrieval.bm25 import Bm25

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'toulmin[scale]'")
pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'toulmin[scale]'")

pytestmark = pytest.mark.xdist_group("ray")  # one worker starts the cluster, for all of these
DOCS = [str(file) for file in sorted(Path(str(demo.FOLDER)).iterdir()) if file.suffix in {".md", ".txt"}]
THEIRS = Path(__file__).parent / "theirs"  # a package of somebody else's, as if it were installed
ENTRY = [sys.executable, "-c", "from toulmin.cli import main; main()"]


# ---------------------------------------------------------------- how many workers


def test_a_cpu_is_left_over_where_nothing_else_is_said():
    assert crew([Node(4), Node(4)], Where("ray")) == Crew(7, 1.0)


def test_a_cluster_of_one_cpu_has_a_worker_that_does_not_take_it_all():
    assert crew([Node(1)], Where("ray")) == Crew(1, CROWDED)


def test_as_many_workers_as_cpus_take_less_than_a_cpu_each():
    assert crew([Node(1), Node(1)], Where("ray", 2)) == Crew(2, CROWDED)


@pytest.mark.parametrize(("nodes", "workers"), [([Node(2)], 3), ([Node(1), Node(1)], 3), ([Node(0)], None)])
def test_more_workers_than_cpus_are_refused(nodes: list[Node], workers: int | None):
    with pytest.raises(UsageError, match=r"room for \d of these workers.*--workers"):
        crew(nodes, Where("ray", workers))


def test_workers_with_gpus_are_as_many_as_the_gpus_allow():
    assert crew([Node(8, 2), Node(8, 1)], Where("ray", gpus=1)).workers == 3
    assert crew([Node(8, 2)], Where("ray", gpus=0.5)).workers == 4
    with pytest.raises(UsageError, match="1 worker with 1 GPUs each"):
        crew([Node(8)], Where("ray", gpus=1))


@pytest.mark.parametrize("on", ["rays", "ray:", "ray://", "ray:/x", "spark://host"])
def test_a_cluster_that_nothing_is_called_is_refused_with_the_forms(on: str):
    with pytest.raises(UsageError, match="ray://HOST:PORT"):
        Where(on)


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"gpus": -1}, {"gpus": 1.5}])
def test_numbers_that_cannot_be_are_refused(wrong: dict[str, Any]):
    with pytest.raises(UsageError):
        Where("ray", **wrong)


def test_workers_without_a_cluster_are_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="--on ray"):
        toulmin.run(questions(tmp_path, 1), out=tmp_path / "a", workers=2)


# ---------------------------------------------------------------- without Ray

HIDDEN = "import sys; sys.modules['ray'] = None; from toulmin.cli import main; main()"


def test_without_ray_a_cluster_is_refused_with_what_to_install(tmp_path: Path):
    done = command(["run", questions(tmp_path, 1), "--out", tmp_path / "a", "--on", "ray"], HIDDEN)
    assert done.returncode == ModelError.exit_code
    assert "pip install 'toulmin[scale]'" in done.stderr


def test_doctor_says_that_ray_is_missing_and_how_to_get_it(tmp_path: Path):
    done = command(["doctor"], HIDDEN, cwd=tmp_path)
    assert "ray not installed" in done.stdout
    assert "pip install 'toulmin[scale]'" in done.stdout


def test_ray_is_not_loaded_unless_a_cluster_is_named(tmp_path: Path):
    file = questions(tmp_path, 1)
    code = f"import sys, toulmin; toulmin.run({str(file)!r}, out={str(tmp_path / 'a')!r}); print('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# ---------------------------------------------------------------- a cluster of one CPU, then of two nodes


@pytest.fixture(scope="module")
def one_cpu(no_weights: Path) -> Iterator[Cluster]:
    """A cluster of one node with one CPU."""
    cluster = Cluster({"PYTHONPATH": f"{no_weights}:{THEIRS}"})
    try:
        cluster.add()
        yield cluster
    finally:
        cluster.end()


@pytest.fixture(scope="module")
def cluster(one_cpu: Cluster) -> Cluster:
    """The same with a second node."""
    one_cpu.add()
    return one_cpu


def questions(folder: Path, count: int) -> Path:
    """Questions about towers, each with passages of its own."""
    rows = [
        {
            "id": f"t{i}",
            "question": f"When was the tower of town {i} lit?",
            "answers": [str(1800 + i)],
            "docs": [
                {"title": f"Town {i}", "text": f"The tower of town {i} was lit in {1800 + i}. It is tall."},
                {"title": "Boats", "text": f"Many boats of town {i} are painted blue."},
            ],
        }
        for i in range(count)
    ]
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def timeless(folder: Path) -> list[dict[str, Any]]:
    """The answers by id, times aside."""
    found = [orjson.loads(line) for line in (folder / "answers.jsonl").read_bytes().splitlines()]
    for answer in found:
        answer["usage"]["seconds"] = 0
    return sorted(found, key=lambda answer: str(answer["id"]))


def command(arguments: list[Any], code: str = ENTRY[2], **options: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, **options)


def slow(log: Path, seconds: float) -> Any:
    """A model that says the first sentence of the first passage after a while, and writes down who was asked what."""

    class Slow:  # here, so that it is sent whole: workers cannot import the tests
        name, concurrency = "slow", 4

        def generate(self, asked: Any) -> list[Any]:
            from toulmin.prompts.replies import Reply

            time.sleep(seconds)
            with log.open("a") as lines:
                lines.write(f"{os.getpid()} {asked[0].prompt.question}\n")
            return [Reply(f"{asked[0].prompt.passages[0].text.split('. ')[0]} [1].")]

    return Slow()


def asked(log: Path) -> Counter[str]:
    """How often each question was asked."""
    lines = log.read_text().splitlines() if log.exists() else []
    return Counter(line.partition(" ")[2] for line in lines)


def test_a_cluster_with_one_cpu_and_a_gpu_answers_all(one_cpu: Cluster, tmp_path: Path):
    file = questions(tmp_path, 24)
    done: list[Any] = []
    threading.Thread(
        target=lambda: done.append(toulmin.run(file, out=tmp_path / "a", on=one_cpu.on, gpus_per_worker=1)), daemon=True
    ).start()
    until(lambda: bool(done), 300)  # a pool that starves its readers would never end
    assert done[0].progress.done == 24


def test_workers_find_the_parts_of_another_package_by_name(one_cpu: Cluster, tmp_path: Path):
    words = ["run", questions(tmp_path, 2), "--out", tmp_path / "a", "--on", one_cpu.on]
    done = command(
        [*words, "--method", "mine:twice", "--judge", "theirs:large"],
        env={**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{THEIRS}"},
    )
    answers = timeless(tmp_path / "a")
    judges = {claim["support"]["judge"] for answer in answers for claim in answer["claims"]}
    assert (done.returncode, {answer["method"] for answer in answers}) == (0, {"mine:twice"}), done.stderr
    assert judges == {"literal-large"}


def test_more_workers_than_the_cluster_has_room_for_are_refused(one_cpu: Cluster, tmp_path: Path):
    with pytest.raises(UsageError, match="not for 3 workers"):
        toulmin.run(questions(tmp_path, 1), out=tmp_path / "a", on=one_cpu.on, workers=3)
    assert not (tmp_path / "a").exists()


def test_an_object_that_cannot_be_sent_is_refused_by_name(one_cpu: Cluster, tmp_path: Path):
    class Locked:
        name, concurrency, lock = "locked", 1, threading.Lock()

        def __reduce__(self) -> Any:
            raise TypeError("a lock stays where it is")

    with pytest.raises(UsageError, match="The main cannot be sent to the workers of a cluster: a lock stays"):
        toulmin.run(questions(tmp_path, 1), out=tmp_path / "a", on=one_cpu.on, model=Locked())


@pytest.fixture(scope="module")
def both(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, no_weights: Path) -> tuple[Path, Path, str]:
    """The same questions over the demo's documents, answered here and by two workers, and what the command printed."""
    folder = tmp_path_factory.mktemp("both")
    alike = {"cwd": folder, "env": {**os.environ, "PYTHONPATH": str(no_weights)}}  # as the nodes, whatever is installed
    toulmin.index(DOCS, into=folder / "index")
    toulmin.questions([str(folder / "index")], out=folder / "q.jsonl", n=24)
    with (folder / "q.jsonl").open("a", encoding="utf-8") as lines:
        for file in DOCS:
            name = Path(file).stem.replace("-", " ")
            lines.write(json.dumps({"id": name, "question": f"What is known about the {name}?"}) + "\n")
    asked = ["run", folder / "q.jsonl", "--index", "index", "--judge", "lexical", "--set", "reader=lexical", "--json"]
    here = command([*asked, "--out", "here"], **alike)
    assert here.returncode == 0, here.stderr
    on = ["--on", cluster.client, "--workers", 2]
    there = command([*asked, "--out", "there", *on], **alike)
    assert there.returncode == 0, there.stderr
    assert there.stderr == ""
    return folder / "here", folder / "there", there.stdout


def test_the_answers_are_those_of_a_run_in_this_process(both: tuple[Path, Path, str]):
    here, there, _ = both
    assert timeless(there) == timeless(here)


def test_the_command_prints_one_json_document_and_no_other_word(both: tuple[Path, Path, str]):
    assert json.loads(both[2])["done"] == len(timeless(both[0]))


def test_run_json_says_the_same_of_a_run_on_a_cluster(both: tuple[Path, Path, str]):
    here, there = (json.loads((folder / "run.json").read_bytes()) for folder in both[:2])
    assert {name: there[name] for name in here if name not in ("created", "command")} == {
        name: value for name, value in here.items() if name not in ("created", "command")
    }


def test_scores_by_the_workers_are_those_of_this_process(both: tuple[Path, Path, str], cluster: Cluster):
    here = both[0]
    local = toulmin.score(here, judge="lexical", memo=False)
    file = next(here.glob("reasons-*.jsonl"))
    reasons = file.read_bytes()
    assert toulmin.score(here, judge="lexical", memo=False, on=cluster.on, workers=2) == local
    assert file.read_bytes() == reasons


def test_a_worker_that_is_killed_loses_nothing(cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    file, log = questions(tmp_path, 40), tmp_path / "asked"
    killed: list[int] = []

    def kill(now: Any) -> None:
        if now.done >= 8 and not killed:
            killed.append(int(log.read_text().split()[0]))
            os.kill(killed[0], signal.SIGKILL)

    there = {"on": cluster.on, "workers": 2, "concurrency": 4, "on_progress": kill}
    report = toulmin.run(file, out=tmp_path / "a", method="vanilla", model=slow(log, 0.05), **there)
    assert killed
    assert (report.progress.done, report.progress.failed, report.error) == (40, 0, None)
    assert len(timeless(tmp_path / "a")) == 40
    assert capfd.readouterr().out == ""
    assert sum(asked(log).values()) - 40 <= 2 * 8  # of one worker, the two batches of eight that it had in hand


def test_a_driver_that_is_killed_goes_on_where_it_was(cluster: Cluster, tmp_path: Path):
    file, log, out = questions(tmp_path, 40), tmp_path / "asked", tmp_path / "a"
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(tests=str(Path(__file__).parent), arguments=(file, out, log, cluster.on)), "utf-8")
    process = subprocess.Popen([sys.executable, script], stderr=subprocess.DEVNULL)
    until(lambda: (out / "run.json").exists() and len(list(entries(out / "journal.sqlite"))) >= 8, 300)
    process.kill()
    process.wait()
    before = {entry.id for entry in entries(out / "journal.sqlite")}
    done = asked(log)
    report = resumed(file, out, log, cluster.on)
    assert 8 <= len(before) < 40
    assert (report.progress.done, report.progress.asked) == (40, 40 - len(before))
    again = asked(log) - done
    assert not {f"When was the tower of town {id[1:]} lit?" for id in before} & again.keys()


DRIVER = """
import sys
from pathlib import Path, PosixPath
sys.path.insert(0, {tests!r})
from test_spread import resumed
resumed(*{arguments!r})
"""


def resumed(file: Path, out: Path, log: Path, on: str) -> Any:
    """The run of the test of a killed driver, begun or gone on with."""
    there = {"on": on, "workers": 2, "concurrency": 4}
    return toulmin.run(file, out=out, method="vanilla", model=slow(log, 0.1), **there)


def test_a_limit_stops_the_workers_too(cluster: Cluster, tmp_path: Path):
    file, log = questions(tmp_path, 200), tmp_path / "asked"
    there = {"on": cluster.on, "workers": 2, "concurrency": 4, "limits": Limits(calls=20)}
    report = toulmin.run(file, out=tmp_path / "a", method="vanilla", model=slow(log, 0.02), **there)
    assert report.stopped is not None
    assert "20 model calls granted are spent" in report.stopped
    assert 20 <= report.progress.done < 100  # two batches of eight a worker were in hand
    assert sum(asked(log).values()) == report.progress.done  # what was begun is kept


def test_what_the_workers_cannot_load_is_told_with_its_own_error(both: tuple[Path, Path, str], cluster: Cluster):
    with pytest.raises(ModelError, match="should be the manifest of trained parts"):
        toulmin.score(both[0], judge="embedded:/nothing/here", memo=False, on=cluster.on)


def test_local_cluster_uses_loopback_and_writes_no_key(tmp_path: Path):
    folder, secret = tempfile.mkdtemp(prefix="ray-", dir="/tmp"), "sk-not-to-be-seen-3141592"
    environment = {**os.environ, "RAY_TMPDIR": folder, "OPENAI_API_KEY": secret}
    there = ["--on", "ray", "--judge", "lexical", "--json"]
    done = command(["run", questions(tmp_path, 8), "--out", tmp_path / "a", *there], TOLD, env=environment)
    assert (done.returncode, done.stderr) == (0, "127.0.0.1\n")
    assert json.loads(done.stdout)["done"] == 8
    written = [file for place in (Path(folder), tmp_path) for file in place.rglob("*") if file.is_file()]
    assert written
    assert [file for file in written if secret.encode() in file.read_bytes()] == []


# The command, which says at its end on which address the cluster was that it ends.
TOLD = """
import sys, ray
from toulmin.cli import main
def told(end=ray.shutdown):
    print(*(node["NodeManagerAddress"] for node in ray.nodes()), file=sys.stderr)
    end()
ray.shutdown = told
main()
"""


# ---------------------------------------------------------------- indexing


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight files of twenty documents each: so few that every one is a candidate for each query."""
    folder = tmp_path_factory.mktemp("library") / "docs"
    folder.mkdir()
    told = [(f"Town {n % 50}", f"The tower of town {n} was lit in {1800 + n}.") for n in range(160)]
    for part in range(8):
        rows = [orjson.dumps({"title": title, "text": text}) for title, text in told[part * 20 : part * 20 + 20]]
        (folder / f"{part}.jsonl").write_bytes(b"\n".join(rows))
    return folder


def found_in(place: str | Path) -> Any:
    """What searches find, and how much there is."""
    with open_index(str(place)) as corpus:
        queries = ["tower of town 7", "lit in 1866", "town 159"]
        rows = Bm25(corpus).search(queries, 20)
        # Of many that tie with the last, any may come.
        clear = [[hit.passage for hit in row if hit.score > row[-1].score] for row in rows]
        return clear, [[hit.score for hit in row] for row in rows], corpus.stats


@pytest.fixture(scope="module")
def expected(library: Path) -> Any:
    """The same of an index that this process made, in one piece."""
    toulmin.index(str(library), into=library.parent / "one")
    return found_in(library.parent / "one")


def test_index_of_a_folder_is_not_written_by_a_cluster(library: Path, tmp_path: Path):
    with pytest.raises(UsageError, match="written by this machine alone; leave out --on"):
        toulmin.index(str(library), into=tmp_path / "index", on="ray")


def test_vectors_are_made_by_workers_with_a_gpu(cluster: Cluster, library: Path, tmp_path: Path):
    pytest.importorskip("lancedb", reason="LanceDB is not installed: pip install 'toulmin[scale]'")
    encoder = f"transformer:{sentence_bert(tmp_path / 'encoder')}"
    there = {"on": cluster.on, "workers": 1, "gpus_per_worker": 1}
    shared = f"lance:{tmp_path / 'shared'}"
    report = toulmin.index(str(library / "0.jsonl"), into=shared, encoder=encoder, **there)
    here = toulmin.index(str(library / "0.jsonl"), into=tmp_path / "one", encoder=encoder)
    assert (report.encoded, report.encoder) == (here.encoded, here.encoder) == (20, here.encoder)
    query = "the tower of town 7"
    rankings = [toulmin.search(query, index=place, k=5, fusion="dense") for place in (shared, tmp_path / "one")]
    assert [hit.passage for hit in rankings[0]] == [hit.passage for hit in rankings[1]]


def test_a_shared_corpus_is_written_by_the_workers_together(
    cluster: Cluster, library: Path, expected: Any, tmp_path: Path
):
    pytest.importorskip("lancedb", reason="LanceDB is not installed: pip install 'toulmin[scale]'")
    place = f"lance:{tmp_path / 'shared'}"
    report = toulmin.index(str(library), into=place, on=cluster.on, workers=2)
    assert (report.read, report.unchanged, report.documents) == (8, 0, 160)
    assert found_in(place) == expected
