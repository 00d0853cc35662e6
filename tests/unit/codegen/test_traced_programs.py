"""Traced programs on disk: they are what would be traced, or they are not used."""

import dataclasses
import pickle

import numpy as np
import pytest

import robodyn as rd
from robodyn.codegen.llvm.cache import traced_programs
from robodyn.codegen.llvm.cache.object_code import generator_modules
from robodyn.codegen.llvm.cache.traced_programs import FOLDERS, cached_program
from robodyn.equations import catalogue
from robodyn.symbolic.graph import Program

#: Robots with ten speeds and more: a tree, one that floats, a linkage.
ROBOTS = [("dual_arm", "fixed"), ("arm7", "floating"), ("palletizer", "floating")]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("ROBODYN_CACHE", raising=False)
    return tmp_path / "cache" / "robodyn"


@pytest.fixture
def traced(monkeypatch):
    """Names of the quantities that are traced, one after the other."""
    names, trace = [], catalogue._shortest

    def noted(name, setup, options):
        names.append(name)
        return trace(name, setup, options)

    monkeypatch.setattr(catalogue, "_shortest", noted)
    return names


def contents(program):
    graph = program.graph
    rates = {name: contents(rate) for name, rate in program.rates.items()}
    ports = program.inputs, program.outputs
    values = [(k, float(x), getattr(x, "single", None)) for k, x in graph.value.items()]
    examples = {k: [*map(float, x)] for k, x in graph.examples.items()}
    known = sorted(graph.known.items(), key=repr)
    nodes = graph.op, graph.a, graph.b, values, examples, known
    return program.name, ports, program.results, nodes, rates


@pytest.mark.parametrize(("name", "base"), ROBOTS)
def test_a_program_from_disk_is_the_one_that_was_traced(name, base, traced):
    for quantity in ("mass_matrix", "forward_dynamics"):
        first = rd.load(name, base=base).function(quantity).program
        assert traced[-1] == quantity
        del traced[:]
        again = rd.load(name, base=base).function(quantity).program
        assert not traced and again is not first
        assert contents(again) == contents(first)


@pytest.mark.parametrize(("name", "base"), ROBOTS[:2])
def test_derivatives_from_disk_are_those_that_were_traced(name, base, traced):
    first = rd.load(name, base=base).function("inverse_dynamics").jacobian("q")
    assert traced[-1] == "inverse_dynamics_derivatives"
    del traced[:]
    again = rd.load(name, base=base).function("inverse_dynamics").jacobian("q")
    assert not traced
    assert contents(again.program) == contents(first.program)


def test_what_is_different_is_traced(traced):
    robot = rd.load("dual_arm")
    heavier = robot.mechanism.links[-1]
    heavier = dataclasses.replace(heavier, inertia=rd.Inertia(0.123))
    links = (*robot.mechanism.links[:-1], heavier)
    same = rd.load("dual_arm")
    others = [
        same,
        rd.load("dual_arm", gravity=(0.0, 0.0, -1.6)),
        rd.load("dual_arm", passive=False),
        rd.load("dual_arm", base="moving"),
        rd.load(dataclasses.replace(robot.mechanism, links=links)),
    ]
    robot.function("inverse_dynamics")
    counts = []
    for other in others:
        before = len(traced)
        other.function("inverse_dynamics")
        counts.append(len(traced) - before)
    assert counts == [0, 1, 1, 1, 1]
    del traced[:]
    for link in robot.link_names[-2:]:
        rd.load("dual_arm").function("frame_jacobian", frame=link)
    assert traced == ["frame_jacobian"] * 2


def damaged(data):
    yield data[: len(data) // 2]
    yield b""
    yield bytes([data[50] ^ 1]).join([data[:50], data[51:]])


def test_damaged_files_are_traced_anew(cache, traced):
    rd.load("dual_arm").function("mass_matrix")
    (file,) = cache.glob("*.o")
    whole = file.read_bytes()
    for data in damaged(whole):
        file.write_bytes(data)
        del traced[:]
        rd.load("dual_arm").function("mass_matrix")
        assert traced == ["mass_matrix"]
        assert file.read_bytes() == whole


class Evil:
    def __reduce__(self):
        return print, ("read",)


@pytest.mark.parametrize("other", [Evil(), 3, ("name", [], [], {}, {}), None])
def test_files_of_something_else_are_not_used(other, monkeypatch, capsys):
    data = pickle.dumps(other)
    monkeypatch.setattr(traced_programs, "cached", lambda key: data)
    monkeypatch.setattr(traced_programs, "store", lambda key, data: None)
    program = rd.load("dual_arm")._made.evaluator.program("mass_matrix", {})
    assert cached_program(("key", 1), lambda: program) is program
    assert capsys.readouterr().out == ""


def map_of_the_user(q):
    return np.eye(4)


@pytest.mark.parametrize("origin", [map_of_the_user, lambda: 0, Evil(), ("a", Evil)])
def test_what_is_not_known_whole_has_no_place(origin, cache):
    """Another process may call something else by the same name."""
    program = rd.load("dual_arm")._made.evaluator.program("mass_matrix", {})
    before = len(list(cache.glob("*.o")))
    for _ in range(2):
        assert cached_program(("name", origin), lambda: program) is program
    assert len(list(cache.glob("*.o"))) == before == 1


def test_nothing_is_kept_where_nothing_is_to_be_kept(monkeypatch, cache, traced):
    monkeypatch.setenv("ROBODYN_CACHE", "0")
    for _ in range(2):
        rd.load("dual_arm").function("mass_matrix")
    assert traced == ["mass_matrix"] * 2 and not cache.exists()


def test_all_that_traces_is_part_of_the_key():
    """Modules that the catalogue imports are in the rooms of the key, or at the top of robodyn."""
    for module in generator_modules("robodyn.equations.catalogue"):
        _, room, *inside = module.split(".")
        assert room in FOLDERS or not inside or module.startswith("robodyn.codegen.llvm."), module


def test_another_source_is_another_key(monkeypatch):
    program = rd.load("dual_arm")._made.evaluator.program("mass_matrix", {})
    asked = []
    monkeypatch.setattr(traced_programs, "cached", asked.append)
    monkeypatch.setattr(traced_programs, "store", lambda key, data: None)
    for sources in (b"one", b"other", b"one"):
        monkeypatch.setattr(traced_programs, "_sources", lambda sources=sources: sources)
        assert isinstance(cached_program(("origin",), lambda: program), Program)
    assert asked[0] == asked[2] != asked[1]
