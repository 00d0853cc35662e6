"""LaTeX, read back and evaluated."""

import math
import re
import shutil
import subprocess

import numpy as np
import pytest

import robodyn as rd
from robodyn.codegen import Function
from robodyn.codegen.text.identities import with_identities
from robodyn.codegen.text.latex import LENGTH
from robodyn.symbolic.evaluate import evaluate
from robodyn.symbolic.graph import Graph, Port, Program
from robodyn.symbolic.scalar import edge_of, inputs, sin, sqrt

SUBSCRIPT = r"(?:_\{(?:[^{}]|\{[^{}]*\})*\})?"
PARTIAL = r"\\frac\{\\partial (?:[^{}]|\{[^{}]*\})*\}\{\\partial (?:[^{}]|\{[^{}]*\})*\}"
TOKEN = re.compile(
    rf"\s*({PARTIAL}|\\(?:left\(|right\)|times|cdot|frac|sqrt|sin|cos|le)|\d+(?:\.\d+)?"
    r"|\\(?:begin|end)\{cases\}|&|\\\\|<|\\text\{otherwise\}"
    rf"|(?:\\mathrm\{{[^{{}}]*\}}|\\[a-z]+|[A-Za-z]){SUBSCRIPT}|[-+^{{}}])"
)


#: What ends a sum among cases.
BETWEEN = ("&", r"\\", "<", r"\le", r"\end{cases}")


class Reader:
    """What a person does who reads a formula: signs, juxtaposition, powers, functions."""

    def __init__(self, text, values):
        self.tokens, at = [], 0
        while at < len(text.rstrip()):
            match = TOKEN.match(text, at)
            assert match, f"cannot read {text[at : at + 30]!r}"
            self.tokens.append(match[1])
            at = match.end()
        self.values = values

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def take(self, expected=None):
        token = self.tokens.pop(0)
        assert expected in (None, token)
        return token

    def sum(self):
        negative = self.peek() == "-" and bool(self.take())
        total = -self.product() if negative else self.product()
        while self.peek() in ("+", "-"):
            sign = 1.0 if self.take() == "+" else -1.0
            total += sign * self.product()
        return total

    def product(self):
        value = self.power()
        while self.peek() not in ("", "+", "-", "}", r"\right)", *BETWEEN):
            if self.peek() in (r"\times", r"\cdot"):
                self.take()
            value *= self.power()
        return value

    def power(self):
        token = self.peek()
        if token in (r"\sin", r"\cos"):
            self.take()
            exponent = self.exponent()
            return (math.sin if token == r"\sin" else math.cos)(self.atom()) ** exponent
        return self.atom() ** self.exponent()

    def exponent(self):
        if self.peek() != "^":
            return 1
        self.take("^")
        return int(self.braced())

    def braced(self):
        self.take("{")
        value = self.sum()
        self.take("}")
        return value

    def atom(self):
        token = self.take()
        if token == r"\left(":
            value = self.sum()
            self.take(r"\right)")
            return value
        if token == r"\begin{cases}":
            return self.cases()
        if token == r"\mathrm{NaN}":
            return math.nan
        if token == r"\frac":
            return self.braced() / self.braced()
        if token == r"\sqrt":
            return math.sqrt(self.braced())
        return float(token) if token[0].isdigit() else self.values[token]

    def cases(self):
        first = self.sum()
        self.take("&")
        x, verb, y = self.sum(), self.take(), self.sum()
        self.take(r"\\")
        second = self.sum()
        assert [self.take() for _ in range(3)] == ["&", r"\text{otherwise}", r"\end{cases}"]
        return first if (x < y if verb == "<" else x <= y) else second


def equations(text):
    begin, *lines, end = text.splitlines()
    assert (begin, end) == (r"\begin{align*}", r"\end{align*}")
    assert all(line.endswith(r" \\") for line in lines[:-1])
    return [tuple(line.removesuffix(r" \\").split(" &= ")) for line in lines]


def symbol(name, index):
    head = {"tau": r"\tau"}.get(name, name)
    return f"{head}_{{{','.join(str(i + 1) for i in index)}}}" if index else head


def named(ports, arrays):
    return {
        symbol(port.name, i): float(array[i])
        for port, array in zip(ports, arrays, strict=True)
        for i in np.ndindex(array.shape)
    }


def read(text, values):
    """All values that the equations define, each once, from what stands before."""
    values = dict(values)
    for left, right in equations(text):
        assert left not in values
        reader = Reader(right, values)
        values[left] = reader.sum()
        assert not reader.tokens
    return values


#: What a real TeX sets, too.
TYPESET = [
    ("double_pendulum", "forward_dynamics"),
    ("double_pendulum", "mass_matrix"),
    ("scara", "forward_dynamics"),
    ("scara", "mass_matrix"),
    ("four_bar", "forward_dynamics"),
    ("four_bar", "loop_jacobian"),
]
CASES = [
    *TYPESET,
    ("puma560", "inverse_dynamics"),
    ("puma560", "forward_dynamics"),
    ("puma560", "mass_matrix"),
    ("puma560", "kinetic_energy"),
    ("arm7", "coriolis_matrix"),
]


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_what_is_printed_is_what_is_computed(robot, name):
    f = rd.load(robot).function(name)
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-2, 2, port.shape) for port in f.inputs]
    expected = evaluate(f.program, *arrays)
    values = read(f.latex(), named(f.inputs, arrays))
    scale = max(np.abs(x).max() for x in expected)
    for key, value in named(f.outputs, expected).items():
        assert values[key] == pytest.approx(value, rel=1e-9, abs=1e-9 * scale)


@pytest.mark.parametrize(("robot", "name"), CASES)
def test_intermediate_variables_are_used_again_or_shorten(robot, name):
    lines = equations(rd.load(robot).function(name).latex())
    mentions = re.findall(r"z_\{\d+\}", " ".join(right for _, right in lines))
    names = [left for left, _ in lines if left.startswith("z")]
    assert names == [f"z_{{{k + 1}}}" for k in range(len(names))]
    assert set(names) == set(mentions)
    for _, right in lines:
        assert len(re.findall(r"[a-z]_\{|(?<![{\d.])\d+\.", right)) <= 2 * LENGTH


def test_derivatives_have_names_of_derivatives():
    f = rd.load("double_pendulum").function("mass_matrix").jacobian("q")
    q = np.array([0.3, -0.7])
    values = read(f.latex(), {"q_{1}": q[0], "q_{2}": q[1]})
    expected = evaluate(f.program, q)[0]
    for i, j, k in np.ndindex(2, 2, 2):
        key = rf"\frac{{\partial M_{{{i + 1},{j + 1}}}}}{{\partial q_{{{k + 1}}}}}"
        assert values[key] == pytest.approx(expected[i, j, k], rel=1e-9, abs=1e-12)


def test_tex_sets_the_equations(tmp_path):
    """Of trees and of a linkage, of numbers with names, of derivatives: no line is too long."""
    tex = shutil.which("pdflatex")
    if tex is None:
        pytest.skip("there is no pdflatex")
    functions = [rd.load(robot).function(name) for robot, name in TYPESET]
    texts = [f.latex() for f in functions] + [functions[1].jacobian("q").latex()]
    names = {"joint elbow x": "l1", "link forearm mass": "m_lower", "joint elbow damping": "d"}
    named_scara = rd.load("scara", symbols=names)
    f = named_scara.function("mass_matrix", symbols=True)
    texts.append(f.latex(constants=named_scara.symbols))
    q = np.array([0.3, -0.7, 0.05, 1.1])
    values = read(texts[-1], named(f.inputs[:1], [q]))
    for key, x in named(f.outputs, [named_scara.mass_matrix(q)]).items():
        assert values[key] == pytest.approx(x, rel=1e-9, abs=1e-9)
    head = r"\documentclass{article}\usepackage{amsmath}\allowdisplaybreaks\begin{document}"
    (tmp_path / "f.tex").write_text("\n".join([head, *texts, r"\end{document}"]))
    command = [tex, "-interaction=nonstopmode", "-halt-on-error", "f.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Output written on f.pdf" in done.stdout
    assert "Overfull" not in done.stdout


def made(build, n=2, name="x"):
    graph = Graph()
    results = [edge_of(graph, y) for y in build(*inputs(graph, 0, n))]
    program = Program(
        "f", (Port(name, (n,)),), (Port("y", (len(results),)),), graph, tuple(results)
    )
    return Function(program)


WRITTEN = [
    (lambda a, b: -(a - b) / (b + 2.0), r"-\frac{x_{1} - x_{2}}{x_{2} + 2}"),
    (lambda a, b: -(a * b) * (a - 1.0) * (a - 1.0), None),
    (lambda a, b: (a - b) * (a - b), r"\left(x_{1} - x_{2}\right)^{2}"),
    (lambda a, b: -(a + b), "-x_{1} - x_{2}"),
    (lambda a, b: sin(-a) / b, r"-\frac{\sin x_{1}}{x_{2}}"),
    (lambda a, b: sin(a) * sin(a) * b, r"x_{2} \sin^{2} x_{1}"),
    (lambda a, b: sin(a - b) * a * 0.5, r"0.5 x_{1} \sin \left(x_{1} - x_{2}\right)"),
    (lambda a, b: 1.0 / (1.0 / a + b), r"\frac{1}{x_{2} + \frac{1}{x_{1}}}"),
    (lambda a, b: a / (b / (a + 1.0)), r"\frac{x_{1} \left(x_{1} + 1\right)}{x_{2}}"),
    (
        lambda a, b: sqrt(a * a + 1e-5) * 3.0 / b,
        r"\frac{3 \sqrt{x_{1}^{2} + 10^{-5}}}{x_{2}}",
    ),
    (lambda a, b: a * 1.2e-7 - b, r"1.2\times 10^{-7} x_{1} - x_{2}"),
    (lambda a, b: a * 0.0 + 4.0, "4"),
    (lambda a, b: a * 0.0, "0"),
    (lambda a, b: (2.0 * a) * (3.0 * b), None),
    (lambda a, b: (2e-9 * a) * (2e-9 * b), None),
    (lambda a, b: (a / b) * (a / b) * (b - a) / sqrt(a * a) / sqrt(b * b), None),
]


@pytest.mark.parametrize("k", range(len(WRITTEN)))
def test_signs_powers_and_fractions(k):
    build, text = WRITTEN[k]
    f = made(lambda a, b: [build(a, b)])
    lines = equations(f.latex())
    assert text is None or [right for _, right in lines] == [text]
    values = read(f.latex(), {"x_{1}": 0.7, "x_{2}": 1.9})
    expected = evaluate(f.program, np.array([0.7, 1.9]))[0]
    assert values["y_{1}"] == pytest.approx(expected[0], rel=1e-11)


def test_towers_are_cut():
    def tower(a, b):
        for _ in range(40):
            a = sqrt(sin(a * a) + b)
        return [a]

    f = made(tower)
    x = np.array([0.4, 1.5])
    values = read(f.latex(), {"x_{1}": x[0], "x_{2}": x[1]})
    assert values["y_{1}"] == pytest.approx(evaluate(f.program, x)[0][0], rel=1e-9)
    squares = made(lambda a, b: [_squared(a, 40) + b])
    assert len(squares.latex()) < 1000


def _squared(x, times):
    for _ in range(times):
        x = x * x
    return x


def test_names_of_ports_become_symbols():
    graph = Graph()
    x = inputs(graph, 0, 4)
    ports = (Port("z", (1,)), Port("wrench:link-1", (2,)), Port("base_pose", (1, 1)))
    y = edge_of(graph, (x[0] + x[1]) * (x[0] + x[1]) + sin(x[0] + x[1]) + x[2] * x[3])
    text = Function(Program("f", ports, (Port("T", ()),), graph, (y,))).latex()
    assert [left for left, _ in equations(text)] == ["y_{1}", "T"]  # z is an input here
    assert r"\mathrm{base}_{\mathrm{pose},1,1}" in text
    assert r"\mathrm{wrench}_{\mathrm{link{-}1},2}" in text


@pytest.mark.parametrize(("robot", "name"), CASES[:3])
def test_a_typesetter_reads_it(robot, name):
    mathtext = pytest.importorskip("matplotlib.mathtext")
    parser = mathtext.MathTextParser("path")
    for left, right in equations(rd.load(robot).function(name).latex()):
        drawn = parser.parse(f"${left} = {right}$")
        alone = parser.parse(f"${left}$")
        assert drawn.width > alone.width > 0.0
        assert len(drawn.glyphs) > len(alone.glyphs)


def test_squares_of_sine_and_cosine_are_one():
    """The Coriolis matrix of a planar arm, as any book has it: the first angle is not in it."""
    names = ("l1", "m1", "m2", "c1", "c2", "I1", "I2")
    l1, m1, m2, c1, c2, I1, I2 = (
        rd.symbol(n, x) for n, x in zip(names, (0.6, 2.0, 1.0, 0.3, 0.25, 0.07, 0.03), strict=True)
    )

    def link(name, m, c, J):
        return rd.Link(name, rd.Inertia(m, rd.Pose((c, 0, 0)), ixx=1e-3, iyy=J, izz=J))

    def joint(name, parent, child, x):
        return rd.Joint(name, "revolute", parent, child, rd.Pose((x, 0, 0)), axis=(0, 0, 1))

    links = rd.Link("w"), link("a", m1, c1, I1), link("b", m2, c2, I2)
    joints = joint("j1", "w", "a", 0.0), joint("j2", "a", "b", l1)
    robot = rd.load(rd.Mechanism("planar", links, joints), gravity=(0, -9.81, 0))
    h = r"l_{1} m_{2} c_{2} \sin q_{2}"
    text = robot.function("coriolis_matrix", symbols=True).latex()
    for line in (
        f"z_{{1}} &= {h}",
        f"C_{{1,1}} &= -v_{{2}} {h}",
        r"C_{1,2} &= -z_{1} \left(v_{1} + v_{2}\right)",
        "C_{2,1} &= v_{1} z_{1}",
        "C_{2,2} &= 0",
    ):
        assert line in text
    f = robot.function("inverse_dynamics", symbols=True)
    assert "0.0005" not in f.latex() and r"2 \cdot" not in f.latex()  # numbers that cancel
    assert f._repr_latex_() == f.latex()


@pytest.mark.parametrize("name", ["puma560", "scara", "four_bar"])
@pytest.mark.parametrize("quantity", ["mass_matrix", "bias_forces", "coriolis_matrix"])
def test_shorter_sums_have_the_same_value(name, quantity):
    robot = rd.load(name)
    program = robot.function(quantity).program
    shorter = with_identities(program)
    assert len(shorter.live()) <= len(program.live())
    rng = np.random.default_rng(3)
    given = [rng.normal(size=port.shape) for port in program.inputs]
    (one,), (other,) = (evaluate(x, *given) for x in (program, shorter))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-11 * max(1.0, np.abs(other).max()))
