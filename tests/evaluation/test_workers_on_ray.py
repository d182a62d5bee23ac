"""Workers on a cluster of Ray: two nodes on this machine, of which one is lost."""

import time
from threading import Timer

import numpy as np
import pytest

import vigym
from vigym.evaluation.tables import as_row

ID = "vigym/Pendulum-v0"
SHORT = {"episodes": 8, "together": 1, "options": {"max_episode_steps": 20}}
ray = pytest.importorskip("ray")


class Slow:
    """A controller that takes its time; on Ray it starts when it is on two nodes."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, observation, info):
        if ray.is_initialized():
            (self.folder / ray.get_runtime_context().get_node_id()).touch()
            while len(list(self.folder.iterdir())) < 2:
                time.sleep(0.01)
            time.sleep(0.05)
        return [np.sin(observation[0])]


@pytest.fixture
def cluster():
    """Cluster of two nodes with a processor each."""
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes.second = nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    ray.init(address=nodes.address, log_to_driver=False)
    yield nodes
    ray.shutdown()
    nodes.shutdown()


def rows(controller, **settings):
    scored = vigym.evaluate(ID, controller, **SHORT, **settings)
    return [as_row(row) for row in scored.rows]


def test_a_lost_node_loses_no_row(cluster, tmp_path):
    """The node is lost half a second, or half an episode, after the first ones have ended."""
    timers = []

    def lose(done):
        if not timers:
            timers.append(Timer(0.5, cluster.remove_node, [cluster.second, False]))
            timers[0].start()

    found = rows(Slow(tmp_path), workers=2, backend="ray", progress=lose)
    timers[0].join()
    assert cluster.second not in cluster.worker_nodes
    assert len(list(tmp_path.iterdir())) == 2
    random = rows("random", workers=2, backend="ray")

    def broken(observation, info):
        raise RuntimeError("broken")

    message = r"controller 'broken', seed \d: RuntimeError: broken \(test_workers_on_ray.py"
    with pytest.raises(ChildProcessError, match=message):
        rows(broken, workers=2, backend="ray")
    ray.shutdown()
    assert found == rows(Slow(tmp_path))
    assert random == rows("random")


def test_workers_run_the_package_of_this_process_in_a_folder_with_another_one(
    tmp_path, monkeypatch
):
    other = tmp_path / "vigym" / "__init__.py"
    other.parent.mkdir()
    other.write_text("raise ImportError('another package of this name')\n")
    monkeypatch.chdir(tmp_path)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        found = rows("random", workers=1, backend="ray")
    finally:
        ray.shutdown()
    assert found == rows("random")
