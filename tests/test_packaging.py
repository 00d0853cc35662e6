"""The package as it is installed."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.processes import python

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def test_controllers_are_there_in_the_source_tree():
    """Python that runs in a clone finds the clone's package, whatever is installed."""
    code = "import robodyn, robodyn.controllers as c; print(robodyn.__file__); print(c.__file__)"
    command = [sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path!r}; {code}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    package, controllers = done.stdout.split()
    assert Path(package) == ROOT / "robodyn" / "__init__.py"
    assert Path(controllers) == ROOT / "controllers" / "__init__.py"


def test_no_file_is_a_link():
    """Windows, zips and some checkouts have none."""
    for folder in ("robodyn", "controllers", "tests", "docs"):
        assert not [path for path in (ROOT / folder).rglob("*") if path.is_symlink()]


def test_controllers_have_one_name(tmp_path):
    code = "import robodyn.controllers as c; print(c.ComputedTorque.__module__)"
    done = python("-c", code, cwd=tmp_path)
    assert done.stdout.strip() == "robodyn.controllers.laws.computed_torque"
    wrong = python("-c", "import controllers", check=False, cwd=ROOT)
    assert wrong.returncode != 0
    assert "robodyn.controllers" in wrong.stderr


def test_controllers_travel_between_processes():
    """A pickle names their modules; what is imported again is the same."""
    run = [sys.executable, "-c"]
    there = (
        "import pickle, sys, robodyn; from robodyn.controllers import *; "
        "start = PointToPoint([0, 0], [1, 1], 1.0); "
        "robot = robodyn.load('double_pendulum'); "
        "sys.stdout.buffer.write(pickle.dumps(ComputedTorque(robot, start)))"
    )
    back = (
        "import pickle, sys; law = pickle.load(sys.stdin.buffer); "
        "import robodyn.controllers as c, robodyn.controllers.laws.computed_torque as own; "
        "assert type(law) is c.ComputedTorque is own.ComputedTorque; "
        "assert type(law.reference) is c.PointToPoint; "
        "assert not any(name.startswith('controllers') for name in sys.modules)"
    )
    pickled = subprocess.run([*run, there], cwd=ROOT, capture_output=True, check=True).stdout
    done = subprocess.run([*run, back], cwd=ROOT, input=pickled, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of the tree, without what is built: a build leaves files beside its sources."""
    copy = tmp_path_factory.mktemp("source") / "robodyn"
    built = ("build", "dist", "out", "_build", "generated", "gallery")
    ignored = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", *built)
    shutil.copytree(ROOT, copy, ignore=ignored)
    return copy


def built(kind, source, folder):
    """Path of a ``"wheel"``, an ``"editable"`` wheel or an ``"sdist"``, built of a tree."""
    code = f"import sys; from hatchling.build import build_{kind} as build; build(sys.argv[1])"
    command = [sys.executable, "-c", code, folder]
    subprocess.run(command, cwd=source, capture_output=True, check=True)
    return next(folder.iterdir())


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    return built("wheel", source, tmp_path_factory.mktemp("wheel"))


def test_the_wheel_is_pure_python(wheel):
    assert wheel.name.endswith("-py3-none-any.whl")


def names_in(wheel):
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_the_wheel_holds_what_the_source_tree_holds(wheel):
    there = {
        str(path.relative_to(ROOT))
        for pattern in (
            "*.py",
            "*.urdf",
            "*.c",
            "*.h",
            "*.hpp",
            "*.in",
            "*.txt",
            "*.md",
            "py.typed",
        )
        for path in (ROOT / "robodyn").rglob(pattern)
    }
    # in place of the file that points to the folder
    there |= {f"robodyn/{path.relative_to(ROOT)}" for path in (ROOT / "controllers").rglob("*.py")}
    assert names_in(wheel) == there


def test_a_source_distribution_is_the_whole_tree(source, wheel, tmp_path_factory):
    """It makes the same wheel, and can be tested."""
    folder = tmp_path_factory.mktemp("unpacked")
    shutil.unpack_archive(built("sdist", source, tmp_path_factory.mktemp("sdist")), folder)
    unpacked = next(folder.iterdir())
    packed = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*")}
    tree = {str(path.relative_to(source)) for path in source.rglob("*")}
    assert packed - tree == {"PKG-INFO"}
    assert tree - packed == set()
    again = built("wheel", unpacked, tmp_path_factory.mktemp("again"))
    assert names_in(again) == names_in(wheel)


def test_an_editable_install_is_a_path(source, tmp_path):
    """Which type checkers and editors follow, as they do not follow import hooks."""
    zipfile.ZipFile(built("editable", source, tmp_path)).extractall(tmp_path / "site")
    (path,) = (tmp_path / "site").glob("*.pth")
    assert Path(path.read_text().strip()).resolve() == source.resolve()
    code = "import robodyn, robodyn.controllers as c; print(robodyn.__file__); print(c.__file__)"
    package, controllers = run_outside(code, tmp_path, PYTHONPATH=path.read_text().strip())
    assert Path(package) == source / "robodyn" / "__init__.py"
    assert Path(controllers) == source / "controllers" / "__init__.py"


def run_outside(code, folder, **environment):
    """Words that a Python process prints that runs far from the source tree."""
    done = python("-c", code, env={**environment}, cwd=folder)
    return done.stdout.split()


def test_the_wheel_works(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = (
        "import robodyn, robodyn.controllers as c; print(robodyn.__file__); print(c.__file__); "
        "print(robodyn.load('double_pendulum').nv, robodyn.__version__)"
    )
    package, controllers, nv, version = run_outside(
        code, tmp_path, PYTHONPATH=str(tmp_path / "site")
    )
    assert Path(package) == tmp_path / "site" / "robodyn" / "__init__.py"
    assert Path(controllers) == tmp_path / "site" / "robodyn" / "controllers" / "__init__.py"
    assert nv == "2"
    assert wheel.name.startswith(f"robodyn-{version}-")


def test_a_users_project_runs_with_the_wheel(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    project = shutil.copytree(ROOT / "tests" / "user_project", tmp_path / "project")
    said = run_outside(
        f"import runpy, sys; sys.path.insert(0, {str(project)!r}); "
        "runpy.run_path('project/main.py', run_name='__main__')",
        tmp_path,
        PYTHONPATH=str(tmp_path / "site"),
        PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    )
    assert "works" in said
