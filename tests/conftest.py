"""What all tests share."""

import gc
import importlib.util
import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from support.quick_code import compile_quickly
from support.slow_cases import left_to_other_turns, longest_first, slow_cases

# Tests of the two tiers of compiled code ask for them; all others, and what they start, do without
# another process.
os.environ.setdefault("ROBODYN_COMPILATION", "eager")

if os.environ.get("ROBODYN_TEST_CODE") == "quick":
    compile_quickly()

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would the commands
# that they start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

if importlib.util.find_spec("hypothesis"):  # not where only the tests of ROS run
    from hypothesis import settings

    # machines may be busy; the same examples each time, so that what passes once passes again
    settings.register_profile("robodyn", deadline=None, derandomize=True)
    settings.register_profile("search", deadline=None)
    settings.load_profile("robodyn")


def pytest_configure(config):
    """Have workers take files in the order below, not those with most tests first."""
    if hasattr(config.option, "loadscopereorder"):  # of pytest-xdist 3.7
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(config, items):
    """Mark what `make test` leaves to `make test-all`, and begin with what takes longest.

    `.ci/run` says by ``ROBODYN_TEST_TURN`` which slow tests and cases it leaves to the next run.
    """
    for item in slow_cases(items):
        item.add_marker(pytest.mark.slow)
    if "ROBODYN_TEST_TURN" in os.environ:
        all_slow = [item for item in items if item.get_closest_marker("slow")]
        waiting = {*left_to_other_turns(all_slow, int(os.environ["ROBODYN_TEST_TURN"]))}
        config.hook.pytest_deselected(items=[item for item in items if item in waiting])
        items[:] = [item for item in items if item not in waiting]
    items[:] = longest_first(items)


@pytest.fixture(scope="module", autouse=True)
def _garbage_is_looked_for_among_own_objects():
    """Do not look through all that earlier files have left, which takes a second each time."""
    gc.collect()
    gc.freeze()


# Robots do not change, so that all tests of a process can have the same.


def _bundled(name, source):
    @pytest.fixture(scope="session", name=name)
    def robot():
        import robodyn

        return robodyn.load(source)

    return robot


arm = _bundled("arm", "arm7")
crank_slider = _bundled("crank_slider", "crank_slider")
delta = _bundled("delta", "delta")
double = _bundled("double", "double_pendulum")
dual_arm = _bundled("dual_arm", "dual_arm")
five_bar = _bundled("five_bar", "five_bar")
four_bar = _bundled("four_bar", "four_bar")
palletizer = _bundled("palletizer", "palletizer")
pan_tilt = _bundled("pan_tilt", "pan_tilt")
puma = _bundled("puma", "puma560")
scara = _bundled("scara", "scara")


@pytest.fixture(scope="session")
def acrobot():
    """A double pendulum whose motor is at the elbow."""
    import robodyn

    return robodyn.load("double_pendulum", actuators={"elbow": robodyn.Actuator()})
