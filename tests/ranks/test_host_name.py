"""Ranks on a machine whose name leads nowhere, as laptops and containers have it, or beyond the machine."""

import json
import subprocess
import sys

import pytest

from coursekit.ranks.context import LOOPBACK

pytestmark = pytest.mark.needs("unshare")

PROGRAM = """
import json, os, signal
import numpy as np
from coursekit import ranks
from coursekit.ranks.allocation import own_address


def addresses(with_set):
    import horovod.tensorflow as hvd
    import psutil

    hvd.init()
    pair = hvd.add_process_set([0, 1]) if with_set else None
    if with_set and hvd.rank() < 2:
        hvd.allreduce(np.ones(1), process_set=pair)
    hvd.allreduce(np.ones(1), name="all have connected")
    found = sorted({one.laddr.ip for one in psutil.Process().net_connections(kind="inet")})
    hvd.allreduce(np.ones(1), name="all have looked")  # a rank that ends closes the connections of the others
    return found


def crash():
    os.kill(os.getpid(), signal.SIGSEGV)


def message(function, *args, **settings):
    try:
        function(*args, **settings)
    except ranks.RankError as error:
        return str(error)


dynamic = {"HOROVOD_DYNAMIC_PROCESS_SETS": "1"}
sets = [ranks.run(addresses, with_set, num_ranks=3, environ=dynamic) for with_set in (False, True)]
print(json.dumps([sets, message(ranks.run, crash, num_ranks=1), message(own_address)]))
"""


def run_on_a_machine_called(name, tmp_path, address=""):
    """Return what the program prints on a machine of that name, which its own hosts file gives an address."""
    hosts, program = tmp_path / "hosts", tmp_path / "program.py"
    hosts.write_text(f"127.0.0.1 localhost\n{address} {name if address else ''}\n")
    program.write_text(PROGRAM)
    script = 'hostname "$1" && mount --bind "$2" /etc/hosts && exec "$3" "$4"'
    words = ("unshare", "--map-root-user", "--uts", "--mount", "sh", "-c", script, "sh", name, hosts)
    answer = subprocess.run([*words, sys.executable, program], capture_output=True, text=True, timeout=600, check=False)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout.splitlines()[-1])


LOOPBACK_ONLY = [[[LOOPBACK]] * 3] * 2


@pytest.mark.parametrize("address", ["", "203.0.113.7"])
def test_a_name_that_leads_nowhere_hinders_no_rank_and_is_named_where_it_may(address, tmp_path):
    """Ranks and process sets work; what a foreign Horovod's crash may come of is one sentence."""
    sets, crash, no_address = run_on_a_machine_called("no-such-name", tmp_path, address)

    assert sets == LOOPBACK_ONLY
    for message in (crash, no_address):
        assert "\n" not in message
        assert "'no-such-name'" in message
        assert address in message
        assert "/etc/hosts" in message
    assert "SIGSEGV" in crash


def test_a_name_of_another_address_does_not_open_ranks_to_it(tmp_path):
    """Process sets listen where ranks do also if the host's name has another address, and a crash is only one."""
    sets, crash, no_fault = run_on_a_machine_called("other-address", tmp_path, "127.0.0.2")

    assert sets == LOOPBACK_ONLY
    assert "/etc/hosts" not in crash
    assert no_fault is None
