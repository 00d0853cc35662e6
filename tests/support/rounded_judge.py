"""What a robot made of a rounded file has to do: what the exact geometry does, to the digits.

`verdict` loads the text of a case as a user would, follows every remedy that an error or a warning
gives, and compares what the robot computes with `oracles.known_mobility` on the exact geometry.
How much the digits may change a number is found with the same oracle from geometries that are
changed at random by a millionth.
"""

import dataclasses
import re
import warnings
from dataclasses import dataclass

import numpy as np
from oracles.known_mobility import KnownMobility
from support.interpreted import as_interpreted
from support.linkage_shapes import LINKAGES, STRUCTURES
from support.loop_graphs import with_loops_as_joints
from support.rounded_files import NOTATIONS, Digits, placed, written
from support.rounded_linkages import CLOSINGS, FRAMES, MARGIN, about, linkage

import robodyn as rd
from robodyn.description import Pose
from robodyn.errors import LoopWarning, SingularWarning

#: Numbers may change by this many times what random changes of the size of the digits do.
DIGITS = 20.0
#: What rounding of floats may do, in parts of the largest number.
FLOATS = 1e-8
#: Of the random changes that tell how much numbers depend on the geometry.
CHANGE = 1e-6

#: Fates that are right.
GOOD = (
    "right", "right with one warning", "stays stiff", "misfit refused, the remedy works",
    "misfit refused, the remedy closes it", "misfit told, moves", "misfit told",
    "misfit is another linkage",
)  # fmt: skip

GRAVITY = (0.2, -0.15, -0.3)

#: Relative frequency of shapes that take long.
RARE = {"long_chain": 0.4, "delta": 0.3, "stewart": 0.25, "wrist": 0.7}


@dataclass(frozen=True, eq=False)
class Case:
    """One file, and the linkage that it is of.

    Attributes
    ----------
    number, seed : int
    role : {"linkage", "structure", "misfit"}
    linkage : Linkage
    notation : str
    digits : Digits
        Its ``unit`` is the largest change by rounding.
    base : {"fixed", "floating"}
    deep : bool
        Whether motion, linear models and minimal coordinates are judged, too.
    text : str
        The file.
    in_full : str
        The file with 17 digits.
    amiss : str
        What is wrong with it, of a misfit or if a hinge's axes are opposite to each other.
    free : int
        Degrees of freedom of its arm, and of the linkage beside it.
    """

    number: int
    seed: int
    role: str
    linkage: object
    notation: str
    digits: Digits
    base: str
    deep: bool
    text: str
    in_full: str
    amiss: str = ""
    free: int = 0

    @property
    def what(self):
        base = ", floating" if self.base == "floating" else ""
        amiss = f", {self.amiss}" if self.amiss else ""
        return f"{self.role}: {self.linkage.what}, as {self.notation}, {self.digits}{base}{amiss}"


@dataclass(frozen=True)
class Verdict:
    """A fate, and what was seen."""

    fate: str
    told: str = ""


# ---- cases


def case(number, seed=0, **chosen):
    """A case by its number; anything about it may be chosen instead of drawn.

    Parameters
    ----------
    number, seed : int
    **chosen
        ``role``, ``name`` (of a shape), ``closing``, ``frames``, ``arm``, ``notation``, ``count``,
        ``style``, ``only``, ``base``, ``deep``, ``flipped``; of misfits and structures ``beside``,
        the name of a linkage on the same ground; of misfits ``wrong``, how many joints are out of
        place, and whether ``more`` shapes may be drawn.

    Returns
    -------
    case : Case or None
        `None` if there is no such combination, or the linkage is too near to a singular posture.
    """
    rng = np.random.default_rng([seed, number])
    drawn, more = _drawn(rng), np.random.default_rng([seed, number, 2])
    drawn = {**drawn, **_drawn_of_misfits(more), **chosen}
    if drawn["role"] == "linkage":
        drawn["beside"] = ""
    if drawn["role"] == "structure" and "name" not in chosen:
        drawn["name"] = str(rng.choice(list(STRUCTURES)))
    if drawn["role"] == "misfit":
        if drawn["notation"] in ("sdf", "mjcf"):  # closed where it is drawn, whatever is amiss
            return None
        if "name" not in chosen:
            plain = str(rng.choice(MISFITS))
            drawn["name"] = str(more.choice(MORE_MISFITS)) if drawn["more"] else plain
    mjcf = drawn["notation"].startswith("mjcf")
    made = linkage(
        rng, drawn["name"], drawn["closing"], drawn["frames"], drawn["arm"], mjcf, drawn["beside"]
    )
    if made is None:
        return None
    if any(loop.kind not in NOTATIONS[drawn["notation"]] for loop in made.mechanism.loops):
        return None
    if drawn["notation"] == "sdf" and any(j.kind == "universal" for j in made.mechanism.joints):
        return None
    exact = made.exact(GRAVITY, drawn["base"], cut=[])
    margin = exact.tangents(_start(exact))[1]
    if margin < MARGIN * min(1.0, 4.0 / made.shape.loops) or exact.surplus(_start(exact)) > 1e-10:
        return None
    mechanism, amiss = made.mechanism, ""
    if drawn["role"] == "misfit":
        mechanism, amiss = made.mechanism, ""
        for _ in range(drawn["wrong"]):
            mechanism, one = _amiss(rng, made, mechanism, 1.0 / drawn["wrong"])
            amiss += f"{', ' * bool(amiss)}{one}"
        drawn["count"] = max(drawn["count"], 6)
    flipped = drawn["flipped"] and drawn["role"] == "linkage"
    if flipped and drawn["notation"] in ("loop", "cut joint"):
        mechanism, amiss = _flipped(mechanism)
    digits = Digits(drawn["count"], drawn["style"], drawn["only"])
    floating = drawn["base"] == "floating"
    text = written(mechanism, drawn["notation"], digits, floating)
    in_full = written(made.mechanism, drawn["notation"], Digits(17), floating)
    return Case(
        number, seed, drawn["role"], made, drawn["notation"], digits, drawn["base"], drawn["deep"],
        text, in_full, amiss, bool(drawn["arm"]) + bool(drawn["beside"]),
    )  # fmt: skip


#: Shapes of which any hinge that is tilted, or a link that is out of its plane, is a fault.
MISFITS = (
    "four_bar", "five_bar", "six_bar", "three_legs", "spherical_four_bar", "bennett_ring", "sarrus",
    "wrist",
)  # fmt: skip

#: Likewise, with slides that are tipped out of the plane.
MORE_MISFITS = (
    "parallelogram", "scissors", "crank_slider", "cylinder", "spherical_five_bar", "bricard",
    "long_chain",
)  # fmt: skip


def _drawn(rng):
    weights = np.array([RARE.get(name, 1.0) for name in LINKAGES])
    only = [("xyz", "rpy", "axis"), ("xyz",), ("rpy",), ("axis",)]
    return {
        "role": str(rng.choice(["linkage", "structure", "misfit"], p=[0.84, 0.08, 0.08])),
        "name": str(rng.choice(list(LINKAGES), p=weights / weights.sum())),
        "closing": str(rng.choice(CLOSINGS)),
        "frames": str(rng.choice(FRAMES, p=[0.1, 0.1, 0.3, 0.5])),
        "arm": bool(rng.random() < 0.15),
        "notation": str(rng.choice(list(NOTATIONS))),
        "count": int(rng.integers(4, 17)),
        "style": str(rng.choice(["g", "f", "float32"], p=[0.6, 0.3, 0.1])),
        "only": only[int(rng.choice(4, p=[0.7, 0.1, 0.1, 0.1]))],
        "base": str(rng.choice(["fixed", "floating"], p=[0.85, 0.15])),
        "deep": bool(rng.random() < 0.12),
        "flipped": bool(rng.random() < 0.04),
    }


def _drawn_of_misfits(rng):
    """What cases have beside that, of random numbers of their own."""
    others = ("four_bar", "crank_slider", "spherical_four_bar", "bennett_ring")
    return {
        "more": bool(rng.random() < 0.4),
        "wrong": int(rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1])),
        "beside": str(rng.choice(others)) if rng.random() < 0.2 else "",
    }


def _flipped(mechanism):
    """With the axes of the first hinge that closes a loop opposite to each other."""
    for k, loop in enumerate(mechanism.loops):
        if loop.kind == "revolute":
            across = np.cross(loop.axis, (0.3, 0.5, -0.7))
            X = loop.X_successor.matrix.copy()
            X[:3, :3] = X[:3, :3] @ about(across / np.linalg.norm(across), np.pi)
            turned = dataclasses.replace(loop, X_successor=Pose.from_matrix(X))
            loops = (*mechanism.loops[:k], turned, *mechanism.loops[k + 1 :])
            told = f"axes of {loop.name} opposite to each other"
            return dataclasses.replace(mechanism, loops=loops), told
    return mechanism, ""


def _amiss(rng, made, mechanism, share):
    """The description with one joint of its loops out of place, and what was done."""
    looped = [
        k
        for k, joint in enumerate(mechanism.joints)
        if joint.name != "hip" and not joint.name.startswith("other_")
    ]
    k = int(rng.choice(looped))
    joint = mechanism.joints[k]
    size = share * float(10.0 ** rng.uniform(-3.0, np.log10(0.05)))
    X = joint.origin.matrix.copy()
    axis = np.array(joint.axis)
    tilt = made.closing == "cylindrical" or not made.shape.loose or rng.random() < 0.5
    slides = joint.kind == "prismatic"
    if tilt or slides:
        across = np.cross(axis, _normal(made, joint) if slides else rng.normal(size=3))
        across /= np.linalg.norm(across)
        X[:3, :3] = X[:3, :3] @ about(across, size)
        amiss = f"{joint.name} tilted by {size:.2g} rad"
    else:
        X[:3, 3] += X[:3, :3] @ axis * size * 0.3
        amiss = f"{joint.name} out of place by {size * 0.3:.2g} m along its axis"
    joints = list(mechanism.joints)
    joints[k] = dataclasses.replace(joint, origin=Pose.from_matrix(X))
    return dataclasses.replace(mechanism, joints=tuple(joints)), amiss


def _normal(made, joint):
    """Of the plane in which a slide moves, in the axes of its joint."""
    X = placed(made.mechanism)
    pin = next(x for x in made.mechanism.joints if x.kind == "revolute" and x.name != "hip")
    return X[joint.child][:3, :3].T @ X[pin.child][:3, :3] @ np.array(pin.axis)


def _start(exact):
    q = np.zeros(exact.nq)
    for edge in exact.oracle.edges:
        if edge.joint.kind in ("spherical", "floating"):
            q[edge.q.stop - 1] = 1.0
    return q


# ---- loading, and following what is said


@dataclass
class _Loaded:
    robot: object = None
    dof: int = -1
    error: str = ""
    said: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def _load(text, base, **options):
    """The robot with what was said until its mobility was known."""
    found = _Loaded()
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            if text.startswith("<mujoco"):  # says itself that it floats
                options = {"gravity": GRAVITY, **options}
            robot = rd.load(text, base=base, **{"gravity": GRAVITY, **options})
            robot.neutral()
            found.robot, found.dof = robot, robot.dof
        except rd.RobodynError as error:
            found.error = f"{type(error).__name__}: {error}"
    found.said = tuple(str(w.message) for w in caught if issubclass(w.category, LoopWarning))
    found.others = tuple(str(w.message) for w in caught if issubclass(w.category, SingularWarning))
    return found


def _remedies(message):
    """Options that a message advises, each one to be tried; and elements to write instead."""
    options = [
        (name, float(value))
        for name, value in re.findall(r"(snap|closure_tolerance)=([0-9.]+(?:e[+-]?\d+)?)", message)
    ]
    elements = re.findall(r"<(loop|joint) name=\"([^\"]+)\".*?</\1>", message)
    texts = re.findall(r"(<(?:loop|joint) name=\".*?</(?:loop|joint)>)", message)
    return options, {name: text for (_, name), text in zip(elements, texts, strict=False)}


def _followed(case, first):
    """What comes of following the messages to the end, and the way there."""
    found, options, text, way = first, {}, case.text, []
    for _ in range(5):
        message = found.error or " ".join(found.said)
        advised, elements = _remedies(message)
        new = [(k, x) for k, x in advised if options.get(k) != x]
        mended = text
        for name, element in elements.items():
            old = re.search(rf"<(loop|joint) name=\"{re.escape(name)}\".*?</\1>", mended, re.S)
            if old:
                mended = mended[: old.start()] + element + mended[old.end() :]
        if not new and mended == text:
            break
        if new:
            way.append(" or ".join(f"{k}={x:g}" for k, x in new))
        else:
            text = mended
            way.append("element " + ", ".join(elements))
        for options in [options | {k: x} for k, x in new] or [options]:  # noqa: B020
            found = _load(text, case.base, **options)
            if not found.error and found.dof == _dof(case):
                return found, " -> ".join(way)
    return found, " -> ".join(way) or "no remedy given"


def _dof(case):
    return case.linkage.dof + (6 if case.base == "floating" else 0)


def _moving(case, dof):
    """Degrees of freedom of a misfit itself: without its base, its arm and what is beside it."""
    return dof - (6 if case.base == "floating" else 0) - case.free


# ---- the judgement


def verdict(case):
    """The fate of a case."""
    first = _load(case.text, case.base)
    if case.role == "misfit":
        return _of_misfit(case, first)
    if first.error or first.dof != _dof(case):
        return _of_failure(case, first)
    if len(first.said) > 1:
        return Verdict("several warnings", " | ".join(first.said)[:600])
    # motions take many calls, a state few
    faults = Judge(case, first.robot if case.deep else as_interpreted(first.robot)).faults()
    if faults:
        fate, told = faults[0]
        return Verdict(fate, "; ".join([told, *(f"{a}: {b}" for a, b in faults[1:])]))
    if case.role == "structure":
        stiff = any("no joint can move in the loop" in x for x in first.said)
        return Verdict("stays stiff" if stiff else "structure is silent")
    return Verdict("right with one warning" if first.said else "right")


def _of_misfit(case, first):
    if not first.error:
        if first.said:
            told = first.said[0][:700]
            if first.dof == _dof(case):
                return Verdict("misfit told, moves", told)
            found, way = _followed(case, first)
            if way == "no remedy given" or found.dof == _dof(case):
                return Verdict("misfit told", told)
            return Verdict("misfit remedy gives another mobility", f"{way}: {told}")
        # a ball or a universal joint lets a linkage with a tilted pin move in another way
        another = 0 < _moving(case, first.dof) < _moving(case, _dof(case))
        fate = "misfit is another linkage" if another else "misfit silent"
        return Verdict(fate, f"dof {first.dof}, meant {_dof(case)}")
    found, way = _followed(case, first)
    if found.error:
        return Verdict("misfit stuck", f"{way}: {found.error[:500]}")
    moving, meant = (_moving(case, dof) for dof in (found.dof, _dof(case)))
    if way.startswith("element") and 0 < moving < meant:  # one frame cannot do more
        return Verdict("misfit refused, the remedy closes it", way)
    if found.dof != _dof(case):
        said = found.said[0][:300] if found.said else "nothing said"
        return Verdict("misfit remedy gives another mobility", f"{way}: dof {found.dof}; {said}")
    return Verdict("misfit refused, the remedy works", way)


def _of_failure(case, first):
    said = first.error or f"dof {first.dof} instead of {_dof(case)}"
    if not first.error and not first.said:
        if case.role == "structure":
            return Verdict("structure moves, silently", said)
        return Verdict("silent", said)
    found, way = _followed(case, first)
    works = not found.error and found.dof == _dof(case)
    kind = "refused" if first.error else "warned with another mobility"
    if case.role == "structure":
        kind = f"structure {kind}"
    if works:
        return Verdict(f"{kind}, the remedy works", f"{way}: {said[:300]}")
    end = found.error or f"dof {found.dof}"
    first_said = first.error or first.said[0]
    return Verdict(f"{kind}, stuck", f"{way} | at first: {first_said[:500]} | at last: {end[:300]}")


class Judge:
    """Compares a robot with the exact geometry."""

    def __init__(self, case, robot):
        self.case, self.robot = case, robot
        cut = [loop.name for loop in robot.loops]
        exact, mine = case.linkage.mechanism, [*case.linkage.mechanism.loops]
        names = {loop.name for loop in mine}
        as_joints = not names >= {*cut} and not case.notation.startswith("mjcf")
        self._form = with_loops_as_joints if as_joints else (lambda mechanism: mechanism)
        self.cut = cut if as_joints else []
        self.exact = self._of(exact)
        self.q0 = _start(self.exact)
        rng = np.random.default_rng([case.seed, case.number, 1])
        self._changed = [self._of(_changed(rng, exact)) for _ in range(2)]
        self._rng = rng

    def _of(self, mechanism):
        return KnownMobility(
            self._form(mechanism), _dof(self.case), GRAVITY, self.case.base, self.cut
        )

    # between the coordinates of the robot and those of the oracle

    def _ours(self, q, v=None):
        joints, q_r, v_r = self.robot.joints, np.zeros(self.robot.nq), np.zeros(self.robot.nv)
        for name, (at_q, at_v) in self.exact.coordinates.items():
            mine = self._name(name)
            if mine in joints and at_q.stop > at_q.start:
                q_r[joints[mine].q] = q[at_q]
                if v is not None:
                    v_r[joints[mine].v] = v[at_v]
        return q_r if v is None else (q_r, v_r)

    def _name(self, name):
        if name != "base":
            return name
        return next((n for n in self.robot.joint_names if n in ("floating_base", "float")), name)

    def _speeds(self, v):
        return self._ours(self.q0, v)[1]

    # how much numbers may change

    def _allowed(self, value, others):
        """From the values of the changed geometries."""
        spread = max(np.abs(np.asarray(x) - value).max(initial=0.0) for x in others) / CHANGE
        floats = FLOATS * (1.0 + np.abs(value).max(initial=0.0))
        return DIGITS * self.case.digits.unit * (spread + 1.0) + floats

    def faults(self):
        """What is wrong, the worst first: pairs of a fate and numbers."""
        try:
            return self._faults()
        except rd.RobodynError as error:
            return [("refused later", f"{type(error).__name__}: {str(error)[:400]}")]

    def _faults(self):
        wrong = []
        self._neutral(wrong)
        state = self._state(wrong)
        if state is not None and not wrong and self.case.deep:
            with warnings.catch_warnings(action="ignore"):
                self._deep(wrong, *state)
        return wrong

    def _neutral(self, wrong):
        q = self.robot.neutral()
        drawn = self._ours(self.q0)
        away = np.abs(self.robot.difference(drawn, q)).max(initial=0.0)
        closed = [K.closed(self.q0) for K in self._changed]
        allowed = self._allowed(self.q0, closed)
        if away > allowed:
            fate = "jump" if away > max(0.1, allowed) else "neutral off"
            wrong.append((fate, f"neutral() is {away:.3g} away, {allowed:.3g} are due to digits"))
        residual = np.abs(self.robot.loop_residual(q)).max(initial=0.0)
        if residual > 1e-9:
            wrong.append(("open", f"loop_residual(neutral()) is {residual:.3g}"))

    def _state(self, wrong):
        """Accelerations and wrenches at a closed state; returns it."""
        exact, robot, rng = self.exact, self.robot, self._rng
        N, _ = exact.tangents(self.q0)
        step, turn = 0.15 * rng.normal(size=N.shape[1]), 0.5 * rng.normal(size=N.shape[1])
        q = exact.closed(exact.advanced(self.q0, N @ step))
        N, margin = exact.tangents(q)
        if margin < 0.3 * MARGIN * min(1.0, 4.0 / self.case.linkage.shape.loops):
            q, N = self.q0, exact.tangents(self.q0)[0]
        v, tau = N @ turn, 0.2 * rng.normal(size=exact.nv)
        if self.case.base == "floating":
            tau[:6] = 0.0
        wanted, others = exact.solve(q, v, tau), []
        states = []
        for K in self._changed:
            q_K = K.closed(q)
            v_K = K.possible(q_K, v)
            states.append((q_K, v_K))
            others.append(K.solve(q_K, v_K, tau))
        q_r, v_r = self._ours(q, v)
        q_c = robot.assemble(q_r)
        self._compare(wrong, "positions", robot.difference(q_r, q_c), 0.0 * v_r,
                      [self._speeds(_difference(exact, q, x)) for x, _ in states])  # fmt: skip
        v_c = robot.consistent_velocity(q_c, v_r)
        self._compare(wrong, "speeds", v_c, v_r, [self._speeds(x) for _, x in states])
        tau_r = self._speeds(tau)
        a = robot.forward_dynamics(q_c, v_c, tau_r)
        self._compare(wrong, "accelerations", a, self._speeds(wanted.a),
                      [self._speeds(x.a) for x in others])  # fmt: skip
        if wrong:
            return None
        self._wrenches(wrong, (q_c, v_c, tau_r), wanted, others)
        return q, v, tau, q_c, v_c, tau_r

    def _compare(self, wrong, name, got, expected, others):
        off = np.abs(np.asarray(got) - expected).max(initial=0.0)
        allowed = self._allowed(expected, others)
        if not off <= allowed:
            told = f"{name} off by {off:.3g}, {allowed:.3g} are due to digits, largest "
            wrong.append((f"wrong {name}", f"{told}{np.abs(expected).max(initial=0.0):.3g}"))

    def _wrenches(self, wrong, state, wanted, others):
        q, v, tau = state
        try:
            got = self.robot.joint_wrenches(q, v, tau=tau)
        except rd.RobodynError as error:
            wrong.append(("wrenches refused", str(error)[:300]))
            return
        names = [n for n in wanted.wrenches if n in got and n != "base"]
        if self.case.notation.startswith("mjcf") or self.case.amiss:  # pairs of balls, other axes
            loops = {loop.name for loop in self.case.linkage.mechanism.loops}
            names = [n for n in names if n not in loops]
        unique = {n: wanted.unique[n] for n in names}
        pairs = [(np.asarray(got[n])[unique[n]], wanted.wrenches[n][unique[n]],
                  [x.wrenches[n][unique[n]] for x in others]) for n in names]  # fmt: skip
        if pairs:
            mine, right, spread = (
                np.concatenate([p[0] for p in pairs]),
                np.concatenate([p[1] for p in pairs]),
                [np.concatenate([p[2][k] for p in pairs]) for k in range(len(others))],
            )
            self._compare(wrong, "wrenches", mine, right, spread)
        if self.case.number % 4 == 0 and not self.case.amiss:  # loads another robot
            self._least_norm(wrong, got, state)

    def _least_norm(self, wrong, got, state):
        """All components as those of the same file with 17 digits, which has the same rows."""
        full = _load(self.case.in_full, self.case.base)
        if full.error or full.dof != _dof(self.case):
            return
        robot, (q, v, tau) = as_interpreted(full.robot), state
        if [x.name for x in robot.loops] != [x.name for x in self.robot.loops]:
            return
        q = robot.assemble(q)
        v = robot.consistent_velocity(q, v)
        there = robot.joint_wrenches(q, v, tau=tau)
        names = [*there]
        mine, right = (np.concatenate([np.asarray(x[n]) for n in names]) for x in (got, there))
        off, size = np.abs(mine - right).max(), np.abs(right).max()
        # without unique components no oracle says how much digits matter: a hundred times as much
        allowed = 1e3 * DIGITS * self.case.digits.unit * (1.0 + size) + 1e3 * FLOATS * (1.0 + size)
        if off > allowed:
            told = f"wrenches off by {off:.3g} from those of the file in full, largest {size:.3g}"
            wrong.append(("wrong least norm", f"{told}, {allowed:.3g} allowed"))

    # ---- a second of motion, linear models, minimal coordinates

    def _deep(self, wrong, q, v, tau, q_c, v_c, tau_r):
        small = self.case.linkage.shape.loops <= 3 and self.exact.nv <= 12
        if self.case.linkage.dof == 0:
            return
        if small:
            self._motion(wrong, q, v, q_c, v_c)
        if small and self.case.base == "fixed" and self.case.linkage.dof <= 3:
            self._linear(wrong, q, v, tau, q_c, v_c, tau_r)
            self._minimal(wrong, q, v, tau)

    def _motion(self, wrong, q, v, q_c, v_c):
        nothing = np.zeros(self.exact.nv)
        right = self.exact.motion(q, v, nothing, 1.0, 50)
        if right.margin < 0.02 or np.abs(right.v).max() > 3.0:
            return
        K = self._changed[0]
        q_K = K.closed(q)
        other = K.motion(q_K, K.possible(q_K, v), nothing, 1.0, 50)
        end = rd.simulate(self.robot, q0=q_c, v0=v_c, duration=1.0, step=2e-3)
        got = self.robot.difference(self._ours(right.q[-1]), end.q[-1])
        there = self._speeds(_difference(self.exact, right.q[-1], other.q[-1]))
        off, allowed = np.abs(got).max(), self._allowed(0.0 * got, [there]) + 5e-5
        if off > allowed:
            wrong.append(
                ("wrong motion", f"off by {off:.3g} after a second, {allowed:.3g} allowed")
            )

    def _linear(self, wrong, q, v, tau, q_c, v_c, tau_r):
        robot = self.robot
        names = [n for n in robot.independent_joints]
        if any(robot.joints[n].v.stop - robot.joints[n].v.start != 1 for n in names):
            return
        model = robot.linearize(q_c, v_c, tau_r, inputs=names)
        got = np.hstack([model.A, model.B])[len(names) :]
        right, *others = (
            _slopes(K, names, K.closed(q), v, tau) for K in (self.exact, *self._changed)
        )
        off = np.abs(got - right).max()
        allowed = self._allowed(right, others) + 1e-5 * (1.0 + np.abs(right).max())
        if off > allowed:
            wrong.append(("wrong linear model", f"off by {off:.3g}, {allowed:.3g} allowed, "
                          f"largest {np.abs(right).max():.3g}"))  # fmt: skip

    def _minimal(self, wrong, q, v, tau):
        full = _load(self.case.in_full, self.case.base, coordinates="minimal")
        if full.error or full.robot.nc:
            return
        found = _load(self.case.text, self.case.base, coordinates="minimal")
        if found.error:
            wrong.append(("minimal coordinates refused", found.error[:300]))
            return
        robot = found.robot
        if robot.nv != full.robot.nv:
            wrong.append(("minimal coordinates differ", f"{robot.joint_names}, with 17 digits "
                          f"{full.robot.joint_names}"))  # fmt: skip
            return
        names = [n for n in robot.joint_names if n in self.exact.coordinates]
        if len(names) != len(robot.joint_names):
            return
        at = [self.exact.coordinates[n] for n in names]
        own = np.zeros(self.exact.nv)
        for _, at_v in at:
            own[at_v] = tau[at_v]
        pick = lambda x, k: np.concatenate([x[place[k]] for place in at])  # noqa: E731
        got = robot.forward_dynamics(pick(q, 0), pick(v, 1), pick(own, 1))
        solved = [K.solve(x, K.possible(x, v), own) for K in (self.exact, *self._changed)
                  for x in (K.closed(q),)]  # fmt: skip
        right, *others = (pick(s.a, 1) for s in solved)
        self._compare(wrong, "accelerations in minimal coordinates", got, right, others)


def _difference(exact, q, other):
    """Motion from one posture to another that is near, by speeds of the tree."""
    dv = np.zeros(exact.nv)
    for at_q, at_v in exact.coordinates.values():
        one, two = q[at_q], other[at_q]
        if len(one) in (4, 7):
            x, w, y, u = one[-4:-1], one[-1], two[-4:-1], two[-1]
            turn = w * y - u * x - np.cross(x, y)
            dv[at_v][-3:] = 2.0 * turn * np.sign(w * u + x @ y)
            dv[at_v][:-3] = two[:-4] - one[:-4]
        else:
            dv[at_v] = two - one
    return dv


def _changed(rng, mechanism):
    """Places, turns and axes of all joints changed a little, at random."""

    def pose(X):
        xyz, rpy = (np.array(x) + CHANGE * rng.uniform(-1, 1, 3) for x in (X.xyz, X.rpy))
        return Pose(tuple(float(c) for c in xyz), tuple(float(c) for c in rpy))

    def axis(u):
        u = np.array(u) + CHANGE * rng.uniform(-1, 1, 3)
        return tuple(float(c) for c in u / np.linalg.norm(u))

    joints = [
        dataclasses.replace(j, origin=pose(j.origin), axis=axis(j.axis)) for j in mechanism.joints
    ]
    loops = [
        dataclasses.replace(
            c,
            X_predecessor=pose(c.X_predecessor),
            X_successor=pose(c.X_successor),
            axis=axis(c.axis),
        )
        for c in mechanism.loops
    ]
    return dataclasses.replace(mechanism, joints=tuple(joints), loops=tuple(loops))


def _slopes(K, names, q, v, tau, h=1e-5):
    """Slopes of the accelerations of independent joints by their positions, speeds and forces."""
    own = [K.coordinates[n][1].start for n in names]

    def accelerations(dq, dv, dtau):
        move = np.zeros(K.nv)
        move[own] = dq
        here = K.closed(K.advanced(q, _possible(K, q, own, dq)), held=own)
        speeds = _possible(K, here, own, v[own] + dv)
        forces = tau.copy()
        forces[own] += dtau
        return K.solve(here, speeds, forces).a[own]

    columns, nothing = [], np.zeros(len(own))
    for k in range(3):
        for unit in np.eye(len(own)):
            ways = [[h * s * unit if k == j else nothing for j in range(3)] for s in (1, -1)]
            up, down = (accelerations(*way) for way in ways)
            columns.append((up - down) / (2.0 * h))
    return np.array(columns).T


def _possible(K, q, own, rates):
    """Speeds with given ones of the independent joints."""
    N = K.tangents(q)[0]
    return N @ np.linalg.solve(N[own], rates)
