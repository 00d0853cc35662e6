"""Every robot of example-robot-data and of pybullet against Pinocchio, fixed or floating.

Files follow one another by name, so the variants of a robot take turns with both bases; every fifth
file has both, and loose objects float.

Every third file is computed by machine code: small robots throughout, of large ones the dynamics
with a floating base. The rest is by the plain interpreter, which saves minutes of compilation; that
both compute the same program is the subject of the code generation tests.
"""

import numpy as np
import pytest
from support.comparison import close_within
from support.public_robots import FILES, FOLDERS

import robodyn as rd
from robodyn.symbolic.evaluate import evaluate

pin = pytest.importorskip("pinocchio")
from oracles.pinocchio_oracle import PinocchioOracle, read_by_pinocchio  # noqa: E402

#: Relative to the largest entry of a result: rounding of other algorithms on the same numbers.
EQUAL = 1e-10

close = close_within(EQUAL, least=1e-3)

#: Of accelerations: a mass matrix may lose eight of sixteen digits.
EQUAL_ACCELERATIONS = 1e-8
#: Eigenvalues of a mass matrix with ones on its diagonal that are zero but for rounding.
SINGULAR = 1e-13
#: Degrees of freedom up to which everything runs as machine code.
SMALL = 9
#: What runs as machine code for larger robots with a floating base.
COMPILED = ("inverse_dynamics", "forward_dynamics")

#: Files that Pinocchio itself cannot read, and why.
UNREADABLE = {
    "ur_description/urdf/ur3.urdf": "a robot without links",
    "bicycle/bike.urdf": "'0.07,' for a number",
    "biped/biped2d_pybullet.urdf": "'-1.57.' for a number",
    "humanoid/humanoid.urdf": "not XML: two documents in one file",
    "husky/husky.urdf": "xacro that was not expanded",
    "quadruped/microtaur/microtaur.urdf": "four numbers for three angles",
    "spherical_joint_limit.urdf": "a joint of the type 'spherical'",
    "torus_deform.urdf": "a robot without links",
}
#: Files that Pinocchio reads and robodyn refuses, and a part of what it says.
REFUSED = {
    "alex_description/urdf/alex_psyonic_hands.urdf": "mimics: no joint 'index_q1'",
}
LEFT_OUT = UNREADABLE | REFUSED
CHECKED = {name: path for name, path in FILES.items() if name not in LEFT_OUT}


@pytest.mark.parametrize(("source", "least"), [("example-robot-data", 66), ("pybullet", 90)])
def test_so_many_robots_are_compared(source, least):
    folder = FOLDERS[source]
    if folder is None:
        pytest.skip(f"{source} is not installed")
    assert sum(path.is_relative_to(folder) for path in CHECKED.values()) >= least


@pytest.mark.parametrize("name", [name for name in UNREADABLE if name in FILES])
def test_pinocchio_cannot_read(name):
    """What is left out for this reason comes back as soon as the reason is gone."""
    assert read_by_pinocchio(FILES[name]) is None


@pytest.mark.parametrize("name", [name for name in REFUSED if name in FILES])
def test_refused_with_a_reason(name):
    assert read_by_pinocchio(FILES[name]) is not None
    with pytest.raises(rd.RobodynError, match=REFUSED[name]):
        rd.load(FILES[name], allow_unphysical=True)


class Pair:
    """A robot here and there, at one random state."""

    def __init__(self, path, floating, by_machine):
        self.by_machine = by_machine
        self.robot = rd.load(
            path,
            base="floating" if floating else "fixed",
            passive=False,
            rigid=True,
            allow_unphysical=True,
        )
        model = read_by_pinocchio(path, floating=floating)
        self.there = PinocchioOracle(path, self.robot, model)
        rng = np.random.default_rng(20)
        self.q = self.robot.random(rng)
        self.v, self.a, self.tau = rng.normal(size=(3, self.robot.nv))
        self.small = self.robot.nv <= SMALL

    def here(self, name, *arrays, **options):
        function = self.robot.function(name, **options)
        large = self.robot.base == "floating" and name in COMPILED
        if self.by_machine and (self.small or large):
            return function(*arrays)
        return evaluate(function.program, *arrays)[0]


#: Every so manieth file is compared with a fixed and with a floating base.
BOTH = 5
#: Every so manieth file is computed by machine code.
BY_MACHINE = 3


def bases_of(name, number):
    if "random_urdfs" in name:
        return ("floating",)
    return ("fixed", "floating") if number % BOTH == 0 else (("fixed", "floating")[number % 2],)


CASES = [
    pytest.param(name, base == "floating", number % BY_MACHINE == 0, id=f"{name}-{base}")
    for number, name in enumerate(CHECKED)
    for base in bases_of(name, number)
]


@pytest.mark.filterwarnings("ignore::UserWarning")  # what the files' authors did not mind
@pytest.mark.parametrize(("name", "floating", "by_machine"), CASES)
def test_equals_pinocchio(name, floating, by_machine):
    pair = Pair(CHECKED[name], floating, by_machine)
    check_frames(pair)
    if pair.robot.nv > 0:
        check_forces(pair)
        check_energies(pair)
        check_accelerations(pair)


def check_forces(p):
    q, v, a = p.q, p.v, p.a
    tau = p.there.inverse_dynamics(q, v, a)
    #: forces that vanish by symmetry are compared with those that do not
    least = 1e-3 * float(np.abs(tau).max())
    close(p.here("inverse_dynamics", q, v, a), tau)
    close(p.here("bias_forces", q, v), p.there.bias_forces(q, v), least=least)
    close(p.here("gravity_forces", q), p.there.gravity_forces(q), least=least)
    close(p.here("mass_matrix", q), p.there.mass_matrix(q))


def check_energies(p):
    q, v = p.q, p.v
    close(p.here("kinetic_energy", q, v), p.there.kinetic_energy(q, v))
    close(p.here("potential_energy", q), p.there.potential_energy(q))
    if p.robot.total_mass > 0.0:
        close(p.here("center_of_mass", q), p.there.center_of_mass(q))
        close(p.here("momentum", q, v), p.there.momentum(q, v))
        close(p.here("centroidal_matrix", q), p.there.centroidal_matrix(q))


def is_singular(M):
    """Whether some motion moves no mass, whatever the units of the joints."""
    sizes = np.diag(M)
    if sizes.min() <= 1e-14 * sizes.max():
        return True
    return np.linalg.eigvalsh(M / np.sqrt(np.outer(sizes, sizes))).min() < SINGULAR


def check_accelerations(p):
    """Equal, or refused where the mass matrix is singular: never left out."""
    if is_singular(p.there.mass_matrix(p.q)):
        with pytest.raises(rd.SingularError):
            p.here("forward_dynamics", p.q, p.v, p.tau)
    else:
        here = p.here("forward_dynamics", p.q, p.v, p.tau)
        close(here, p.there.forward_dynamics(p.q, p.v, p.tau), EQUAL_ACCELERATIONS)


def check_frames(p):
    q, v, a = p.q, p.v, p.a
    links = p.robot.link_names
    for link in {links[0], links[len(links) // 2], links[-1]}:
        close(p.here("frame_pose", q, frame=link), p.there.frame_pose(q, link))
        if p.robot.nv == 0:
            continue
        close(p.here("frame_jacobian", q, frame=link), p.there.frame_jacobian(q, link))
        close(
            p.here("frame_jacobian_dot", q, v, frame=link), p.there.frame_jacobian_dot(q, v, link)
        )
        close(p.here("frame_twist", q, v, frame=link), p.there.frame_twist(q, v, link))
        close(
            p.here("frame_acceleration", q, v, a, frame=link),
            p.there.frame_acceleration(q, v, a, link),
        )
