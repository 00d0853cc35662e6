"""Programs as text of Python, MATLAB and Modelica, run and compared with their machine code."""

import numpy as np
import pytest
from support import modelica
from support.octave import literal, octave

import robodyn as rd
from robodyn.codegen import Function
from robodyn.codegen.text.matlab import matlab_source
from robodyn.codegen.text.modelica import REAL_SQRT, modelica_function
from robodyn.codegen.text.python import python_function, python_prologue
from robodyn.symbolic.graph import ByPrecision, Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs, sin, sqrt


def all_sorts():
    """A function with arrays of all numbers of axes, words of languages for names, and roots."""
    graph = Graph()
    x = inputs(graph, 0, 9)
    small = graph.by_precision(ByPrecision(1e-9, 1e-4))
    known = x[0] + 2.0 * x[5] - x[8]
    results = [
        edge_of(graph, y) for y in (-known, sin(x[3]) / x[4], sqrt(x[7]) * 1e-30, 0.0 - x[1])
    ]
    edges = (*results, small, graph.constant(-0.25), results[0] ^ 1, results[2])
    ports = (
        Port("t", (), "s"),
        Port("end", (2, 3), 'a "unit" of \\'),
        Port("lambda", (2,)),
        Port("nothing", (0,)),
    )
    outputs = (
        Port("t7", (2, 1, 3), "m"),
        Port("der", (), "N"),
        Port("x", (1,)),
        Port("none", (0,)),
    )
    return Program("all sorts", ports, outputs, graph, edges)


@pytest.fixture(scope="module")
def cases():
    """Function, and arrays of one state, by the name of the function in the text."""
    rng = np.random.default_rng(1)
    arm, linkage = rd.load("pan_tilt"), rd.load("four_bar")
    q = linkage.random(rng)
    v = linkage.consistent_velocity(q, rng.normal(size=linkage.nv))
    numbers = (0.7, rng.normal(size=(2, 3)), np.abs(rng.normal(size=2)), np.zeros(0))
    return {
        "step": (rd.step_function(arm), (0.3, *rng.normal(size=(2, arm.nq)))),
        "forward_dynamics": (
            linkage.function("forward_dynamics"),
            (q, v, rng.normal(size=linkage.nv)),
        ),
        "poses": (arm.function("frame_poses"), (rng.normal(size=arm.nq),)),
        "all_sorts": (Function(all_sorts()), numbers),
    }


def as_list(outputs):
    return list(outputs) if isinstance(outputs, tuple | list) else [outputs]


def check(found, expected, tolerance=1e-12):
    for x, y in zip(as_list(found), as_list(expected), strict=True):
        scale = np.max(np.abs(y), initial=0.0)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * scale)


def module(programs, dtype="double"):
    """What a module of these functions defines."""
    texts = [python_function(x, name, 'about "it"', dtype) for name, x in programs.items()]
    names = {}
    exec("\n".join([python_prologue(dtype), *texts]), names)
    return names


def test_python_computes_states_and_batches(cases):
    programs = {name: f.program for name, (f, _) in cases.items()}
    functions = module(programs)
    for name, (f, arrays) in cases.items():
        one = functions[name](*arrays)
        check(one, f(*arrays))
        assert all(x.shape == p.shape for x, p in zip(as_list(one), f.outputs, strict=True))
        batches = [np.broadcast_to(x, (3, 1, *np.shape(x))) * 1.0 for x in arrays]
        batches[0] = np.broadcast_to(np.asarray(arrays[0]), (2, *np.shape(arrays[0])))
        check(functions[name](*batches), f(*batches))


def test_python_in_single_precision():
    rng = np.random.default_rng(2)
    arrays = (0.7, rng.normal(size=(2, 3)), np.ones(2), np.zeros(0))
    outputs = module({"f": all_sorts()}, "float")["f"](*arrays)
    assert {x.dtype for x in outputs} == {np.dtype(np.float32)}
    check(outputs, Function(all_sorts())(*(np.asarray(x, np.float32) for x in arrays)), 1e-6)


def test_python_refuses_arrays_that_do_not_fit():
    f = module({"f": all_sorts()})["f"]
    with pytest.raises(
        ValueError, match=r"end_? has shape \(3, 2\), expected \(\.\.\., \*\(2, 3\)\)"
    ):
        f(0.0, np.zeros((3, 2)), np.zeros(2), np.zeros(0))
    with pytest.raises(ValueError, match="broadcast"):
        f(np.zeros(3), np.zeros((2, 2, 3)), np.zeros(2), np.zeros(0))


def test_no_number_where_a_root_is_negative_and_no_warning(cases, recwarn):
    f = module({"f": all_sorts()})["f"]
    outputs = f(0.0, np.zeros((2, 3)), np.array([-1.0, 0.0]), np.zeros(0))
    assert np.isnan(outputs[0][0, 0, 2]) and not recwarn.list


@pytest.mark.parametrize("dtype", ["double", "float"])
def test_octave_computes_the_same(cases, dtype, tmp_path):
    script, names = [], {}
    for name, (f, arrays) in cases.items():
        (tmp_path / f"{name}.m").write_text(matlab_source(f.program, name, "a", dtype))
        names[name] = [f"{name}_{k}" for k in range(len(f.outputs))]
        call = ", ".join(map(literal, arrays))
        script.append(f"[{', '.join(names[name])}] = {name}({call});")
        script += [
            f"printf('%s', class({x})); printf(' %.17g', {x}); disp('');" for x in names[name]
        ]
    lines = iter(octave(tmp_path, "\n".join(script)).splitlines())
    for name, (f, arrays) in cases.items():
        if dtype == "float":
            arrays = [np.asarray(x, np.float32) for x in arrays]
        for expected in as_list(f(*arrays)):
            kind, *numbers = next(lines).split()
            assert kind == {"double": "double", "float": "single"}[dtype]
            found = np.array(numbers, float).reshape(expected.shape, order="F")
            tolerance = {"double": 1e-12, "float": 1e-6 if name == "all_sorts" else 2e-4}
            check(found, expected, tolerance[dtype])


def test_octave_refuses_arrays_that_do_not_fit(tmp_path):
    (tmp_path / "f.m").write_text(matlab_source(all_sorts(), "f", "a"))
    script = """
    function tell(varargin)
      try
        [a, b, c, d] = f(varargin{:});
        disp(isnan(a(1, 1, 3)))
      catch e
        disp(e.message)
      end
    end
    tell(0, zeros(3, 2), [1 2], [])
    tell(0, zeros(2, 3), [1 2 3], [])
    tell(0, zeros(2, 3), [1; 2], 'text')
    tell([0 0], zeros(2, 3), [1; 2], [])
    tell(0, zeros(2, 3), [-1; 2], [])
    tell(int8(0), zeros(2, 3), [1; 2], [])
    """
    assert octave(tmp_path, script).splitlines() == [
        "end_ has the size [3 2], expected [2 3]",
        "lambda has the size [1 3], expected 2",
        "nothing is not an array of real numbers",
        "t has the size [1 2], expected []",
        "1",
        "0",
    ]


def test_modelica_computes_the_same(cases):
    functions = [modelica_function(f.program, name, "a") for name, (f, _) in cases.items()]
    package = modelica.parsed("\n".join(["package robot", REAL_SQRT, *functions, "end robot;"]))
    for name, (f, arrays) in cases.items():
        check(modelica.call(package, name, *arrays), f(*arrays))
    with pytest.raises(ValueError, match="there are no numbers"):
        modelica.call(package, "all_sorts", 0.0, np.ones((2, 3)), [-1.0, 0.0], [])


def test_modelica_has_no_infinite_numbers():
    graph = Graph()
    ports = (Port("x", ()),), (Port("y", ()),)
    program = Program("far", *ports, graph, (graph.constant(np.inf),))
    with pytest.raises(rd.SettingsError, match="far has a number in its equations that is inf"):
        modelica_function(program, "far", "a")
    assert np.isinf(module({"far": program})["far"](1.0))
