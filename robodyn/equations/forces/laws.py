"""Force laws of users, as forces along joints and wrenches on bodies, and their energies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from robodyn.equations.mechanism.bodies import Body
from robodyn.equations.mechanism.frames import placement
from robodyn.equations.mechanism.state import JointAtState, State
from robodyn.equations.tree import frame_motion as fm
from robodyn.force_elements.common.link_element import WORLD
from robodyn.force_elements.force_law import ForceLaw
from robodyn.joints.common.quaternion import logarithm, velocity_along
from robodyn.symbolic.scalar import Number
from robodyn.symbolic.spatial import Placement, Twist, Wrench
from robodyn.symbolic.vector import Vec3
from robodyn.tolerances import FRAME_ROUNDING

#: Body that carries a link, and the link frame on it.
LinkPlace = Callable[[str], tuple[int, Placement]]


def along_joint(
    laws: Iterable[ForceLaw], body: Body, joint: JointAtState, t: Number
) -> list[Number]:
    """Forces of the laws of one joint along its own freedoms."""
    total: list[Number] = [0.0] * len(joint.v)
    for law in laws:
        if law.joint == body.description.name:
            total = [x + y for x, y in zip(total, law.force(joint.q, joint.v, t), strict=True)]
    return total


def wrenches(
    state: State, laws: Sequence[ForceLaw], link: LinkPlace
) -> Iterator[tuple[int, Wrench]]:
    """Wrenches of the laws on bodies, the base too, about their origins in their axes."""
    for law in laws:
        if not law.joint:
            frames = _Frames(state, law, link)
            yield from frames.wrenches(law.force(*frames.position_and_speed, state.t))


def energy(state: State, laws: Sequence[ForceLaw], link: LinkPlace) -> Number:
    """Potential energy of the laws that have one."""
    total: Number = 0.0
    joints = {body.description.name: state[body.index] for body in state.model}
    for law in laws:
        if law.energy is not None:
            if law.joint:
                x: Sequence[Number] = joints[law.joint].q
            else:
                x, _ = _Frames(state, law, link).position_and_speed
            total = total + law.potential(x)
    return total


class _Frames:
    """Motion of the frames of a law: of F in the world, or of B in A."""

    def __init__(self, state: State, law: ForceLaw, link: LinkPlace) -> None:
        self._state, self._still = state, [0.0] * state.model.nv
        #: Body, and frame on it, of each; no body of the world.
        self._ends = [_end(name, placement(X, FRAME_ROUNDING), link) for name, X in law.places]
        self._motion = self._absolute(0) if len(self._ends) == 1 else self._relative()

    def _absolute(self, k: int) -> fm.FrameMotion:
        body, X = self._ends[k]
        if body is None:
            return fm.FrameMotion(X, Twist(), Twist(), {}, {})
        return fm.absolute(self._state, self._still, body, X)

    def _relative(self) -> fm.FrameMotion:
        (i, X_A), (j, X_B) = self._ends
        if i is not None and j is not None:
            return fm.relative(self._state, self._still, (j, X_B), (i, X_A))
        A, B = self._absolute(0), self._absolute(1)
        X = A.X.inverse @ B.X
        return fm.FrameMotion(X, B.V - X.twist_in(A.V), Twist(), {}, {})

    @property
    def position_and_speed(self) -> tuple[list[Number], list[Number]]:
        """The arguments of a law: position and speed of its frames."""
        X, V = self._motion.X, self._motion.V
        R = X.R.matrix
        if len(self._ends) == 1:
            rows = [*zip(R.rows(), X.p, strict=True)]
            return [x for row, p in rows for x in (*row, p)], [*V]
        # any multiple of the quaternion does; both parts vanish at half a turn, and nowhere else
        quat = [R.zy - R.yz, R.xz - R.zx, R.yx - R.xy, 1.0 + R.xx + R.yy + R.zz]
        turning = velocity_along(R * V.w, quat)
        return [*X.p, *logarithm(quat)], [*(R * V.v), *turning]

    def wrenches(self, numbers: Sequence[Number]) -> list[tuple[int, Wrench]]:
        """Wrenches on bodies, from the wrench of a law."""
        F = Wrench(Vec3(*numbers[:3]), Vec3(*numbers[3:]))
        *A, (body, X_BF) = self._ends
        if not A:
            assert body is not None
            return [(body, X_BF.wrench_out(F))]
        found, X = [], self._motion.X
        if body is not None:
            own = Wrench(X.R.inverse_times(F.f), X.R.inverse_times(F.n))
            found.append((body, X_BF.wrench_out(own)))
        ((other, X_A),) = A
        if other is not None:
            found.append((other, X_A.wrench_out(-Wrench(F.f, F.n + X.p.cross(F.f)))))
        return found


def _end(name: str, X: Placement, link: LinkPlace) -> tuple[int | None, Placement]:
    """A frame fixed in a link, on the body that carries it."""
    if name == WORLD:
        return None, X
    body, X_BL = link(name)
    return body, X_BL @ X
