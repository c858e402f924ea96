"""The connection to a cluster of real worker processes: order, bounds, killed workers, errors, versions, cancelling."""

import _thread
import functools
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from helpers import cluster_tasks
from swvp.cluster import connect, task, threads
from swvp.cluster.connect import Cluster, Threads, open_workers
from swvp.errors import InputError


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("in_order", [True, False])
def test_threads_give_each_result_once(jobs, in_order):
    results = list(Threads(jobs).map(cluster_tasks.square, range(20), in_order=in_order))
    assert (results if in_order else sorted(results)) == [(k, k * k) for k in range(20)]


def test_threads_take_items_as_they_get_free():
    taken = []
    results = Threads(2).map(cluster_tasks.square, (taken.append(k) or k for k in itertools.count()))
    assert next(results) == (0, 0)
    results.close()
    assert len(taken) <= 2 * threads.AHEAD


def test_results_come_in_the_order_of_the_items(cluster):
    results = list(cluster.map(cluster_tasks.square, range(30)))
    assert results == [(k, k * k) for k in range(30)]


@pytest.mark.parametrize("function", [cluster_tasks.nap, functools.partial(cluster_tasks.nap)])
def test_all_workers_get_tasks(cluster, processes, function):
    results = cluster.map(function, range(20), in_order=False)
    assert {process for _, process in results} == set(processes())


def test_only_a_bounded_number_of_items_is_taken(cluster):
    taken = []
    results = cluster.map(cluster_tasks.square, (taken.append(k) or k for k in itertools.count()))
    assert next(results) == (0, 0)
    results.close()
    assert len(taken) < 30


def test_an_input_error_of_a_task_names_the_file_and_the_worker(cluster):
    with pytest.raises(InputError, match=r"^x\.txt:3: no such label \(on worker tls://.*process"):
        list(cluster.map(cluster_tasks.refuse, ["x.txt"]))


def test_a_file_that_a_worker_cannot_see_is_named_with_the_worker(cluster, tmp_path):
    with pytest.raises(InputError, match=r"nowhere.*No such file.*on worker tls://"):
        list(cluster.map(cluster_tasks.read, [tmp_path / "nowhere"]))


def test_the_task_of_a_killed_worker_is_run_again(cluster, tmp_path):
    items = [(k, str(tmp_path / "marker")) for k in range(10)]
    assert [result for _, result in cluster.map(cluster_tasks.die_once, items)] == list(range(10))
    assert (tmp_path / "marker").exists()


def test_all_workers_killed_at_once_come_back(cluster, processes):
    results = cluster.map(cluster_tasks.nap, range(40))
    next(results)
    before = processes()
    for process in before:
        os.kill(process, signal.SIGKILL)
    assert [number for number, _ in results] == list(range(1, 40))
    assert not set(before) & set(processes())


def test_worker_processes_that_dask_gave_up_are_replaced(cluster, processes):
    """As on a machine so busy that they did not start again in time: Dask then ends their nannies."""
    before = processes()

    async def give_up():
        for name in list(cluster._local.workers):
            await cluster._local.workers.pop(name).close()

    cluster._local.sync(give_up)
    cluster._slots_at = 0.0
    assert [number for number, _ in cluster.map(cluster_tasks.nap, range(20))] == list(range(20))
    assert not set(before) & set(processes())


def test_what_is_bound_to_a_function_is_sent_once_to_tasks_that_say_where_they_run(cluster):
    sent = []

    class Counted(bytes):
        def __reduce__(self):
            sent.append(1)
            return bytes, (bytes(self),)

    function = functools.partial(cluster_tasks.length_with, Counted(b"abc"))
    cluster._slots_at = 0.0  # it asks again for the number of workers
    items = [cluster_tasks.Placed(k, cluster.addresses[k % 2]) for k in range(10)]
    assert [result for _, result in cluster.map(function, items)] == [(3 + k, address) for k, address in items]
    assert len(sent) == 1


def test_a_task_that_kills_every_worker_ends_in_one_line(cluster):
    with pytest.raises(InputError, match="file 0: every worker that tried it died, the last at tls://"):
        list(cluster.map(cluster_tasks.die, [0], retries=0, name=lambda item: f"file {item}"))


def test_ctrl_c_cancels_a_running_task(cluster, tmp_path):
    def interrupt():
        wait_for(tmp_path / "begun")
        _thread.interrupt_main()

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        list(cluster.map(cluster_tasks.until_stopped, [str(tmp_path)]))
    assert wait_for(tmp_path / "stopped")


def wait_for(path):
    for _ in range(1200):
        if path.exists():
            return True
        time.sleep(0.05)
    return False


def test_a_worker_with_another_version_is_refused_at_the_start(cluster, monkeypatch):
    monkeypatch.setattr(task, "expected", lambda: task.Expected("swvp 9.9 (kernels 0)", ()))
    with pytest.raises(InputError, match=r"worker tls://.* has swvp 0.*, but here is swvp 9\.9 .*install the same"):
        cluster._check_workers()


def test_a_worker_with_another_version_that_joins_later_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(task, "expected", lambda: task.Expected("swvp 9.9", ()))
    with pytest.raises(InputError, match=r"worker tls://.* has swvp 0"):
        list(cluster.map(cluster_tasks.square, [1]))


def test_a_user_file_is_loaded_by_the_workers(cluster, monkeypatch, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("raise ValueError('loaded on the worker')\n")
    monkeypatch.setattr(
        task, "expected", lambda: task.Expected(task.identity(), (task.UserFile(str(file), "another digest"),))
    )
    with pytest.raises(InputError, match=r"mine\.py, line 1: ValueError: loaded on the worker.*on worker"):
        list(cluster.map(cluster_tasks.square, [1]))


def test_a_scheduler_that_cannot_be_reached_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(connect, "CONNECT_SECONDS", 0.5)
    with (
        pytest.raises(InputError, match=r"cannot connect to the cluster at tcp://127\.0\.0\.1:9"),
        Cluster("tcp://127.0.0.1:9"),
    ):
        pass


def test_a_scheduler_file_that_does_not_come_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(connect, "CONNECT_SECONDS", 0.0)
    with pytest.raises(InputError, match=r"cannot read nowhere\.json: no such scheduler file"), Cluster("nowhere.json"):
        pass


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "either the address of a cluster or a number of workers"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"workers": 1, "tls_ca": "x"}, "TLS files are for an existing cluster"),
        ({"address": "tls://127.0.0.1:1", "tls_ca": "/nowhere"}, "cannot read /nowhere"),
    ],
)
def test_wrong_options_are_refused(arguments, problem):
    with pytest.raises(InputError, match=problem):
        Cluster(**arguments)


def test_without_dask_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(connect.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'swvp\[cluster\]'"):
        open_workers(workers=1)


@pytest.mark.slow
def test_a_scheduler_that_disappears_ends_in_one_line(tmp_path):
    pytest.importorskip("distributed")
    program = (
        "import sys\nfrom distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:\n"
        "        print(cluster.scheduler_address, flush=True)\n        sys.stdin.read()\n"
    )
    (tmp_path / "scheduler.py").write_text(program)
    path = os.pathsep.join(sys.path)
    process = subprocess.Popen(
        [sys.executable, tmp_path / "scheduler.py"],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    try:
        with Cluster(process.stdout.readline().strip()) as cluster:
            results = cluster.map(cluster_tasks.nap, range(1000))
            next(results)
            process.kill()
            with pytest.raises(InputError, match=r"the scheduler at tcp://.* is gone: finished work is kept"):
                list(results)
    finally:
        process.kill()
        process.wait()


def test_a_task_whose_result_is_lost_with_its_worker_runs_again(monkeypatch):
    monkeypatch.setattr(connect, "RESULT_SECONDS", 0.0)

    class Lost:
        """Finished at first; while its result is fetched, its worker ends."""

        status = "finished"
        asked = 0

        def result(self, timeout):
            self.asked += 1
            self.status = "finished" if self.asked < 3 else "pending"
            raise TimeoutError

        def release(self):
            self.status = "released"

    future = Lost()
    submitted = connect.Submitted(0, "an item", 0, future, None)
    cluster = object.__new__(Cluster)
    cluster.client, cluster.address = SimpleNamespace(status="running"), "tcp://x"
    assert cluster._outcome(submitted, 1, str) is None
    assert (future.asked, future.status) == (3, "released")
    future.status = "lost"
    assert cluster._outcome(submitted, 1, str) is None
    cluster.client.status = "connecting"
    with pytest.raises(InputError, match="the scheduler at tcp://x is gone"):
        cluster._outcome(submitted, 1, str)
