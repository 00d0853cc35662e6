"""Extended URDF: a YAML file beside a URDF, which names frames that close loops, and motors.

Batto et al., "Extended URDF" (arXiv 2504.04767), as their collection of parallel robots has it::

    closed_loop: [[frame_a, frame_b], ...]
    type: [6d, 3d, ...]               # of each loop, or one word for all; left out, 6d
    name_mot: [joint, ...]            # joints with motors, or one word that is part of their names
    joint_name: [joint, ...]          # joints of another type than the URDF says
    joint_type: [SPHERICAL, FIXED, UJOINT_ZY, CARDAN, ...]
    rotule_name: word                 # balls: joints whose names have this word in them
    name_closedloop: word             # in place of closed_loop: frames WORD1.., WORD2.. in pairs
    closed_loop_number: 3             # how many pairs there are; left out or -1, any number
    urdf: robot.urdf                  # ours; else the file of the same name, robot.urdf, or the
                                      # only one in the folder

A frame is a link, or the child link of a joint. Numbers of motors in another library's vectors
(``Lidmot``, ``Lidvmot``) stand beside ``name_mot`` in older files and say the same.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from robodyn.description import Actuator, Joint, Loop, Mechanism, Vector
from robodyn.errors import UrdfError, UrdfWarning
from robodyn.joints import fixed, spherical, universal
from robodyn.joints.common.kind import JointKind
from robodyn.urdf.extended.yaml_values import Word, YamlValues

BALL = "SPHERICAL"
_AXES: dict[str, Vector] = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
#: Word -> kind, first and second axis.
JOINTS: dict[str, tuple[JointKind, str, str]] = {
    BALL: (spherical.KIND, "X", "Y"),
    "FIXED": (fixed.KIND, "X", "Y"),
    "CARDAN": (universal.KIND, "X", "Y"),
    **{f"UJOINT_{a}{b}": (universal.KIND, a, b) for a, b in itertools.permutations("XYZ", 2)},
}


def moving(joints: Iterable[Joint], part: str) -> list[str]:
    """Joints with coordinates of their own whose names have a word in them."""
    return [j.name for j in joints if part in j.name and j.nv and j.mimic is None]


def of_type(joint: Joint, word: str) -> Joint:
    """A joint of another type, at the same place; limits, mimic and spring are not of that type."""
    kind, axis, axis2 = JOINTS[word]
    return dataclasses.replace(
        joint,
        kind=kind.name,
        axis=_AXES[axis],
        axis2=_AXES[axis2],
        limits=None,
        mimic=None,
        stiffness=0.0,
        pitch=0.0,
        parameters=(),
    )


#: Keys with the content of `name_mot` as indices of another library.
REPEATED = ("Lidmot", "Lidvmot")
KEYS = (
    *"closed_loop type name_mot joint_name joint_type rotule_name name_closedloop".split(),
    *("closed_loop_number", "urdf"),
    *REPEATED,
)
LOOPS = {"3d": spherical.KIND.name, "6d": fixed.KIND.name}


class Extension:
    """The content of the YAML file of an Extended URDF, and what is wrong with it.

    ``problems`` are names that do not exist, in the order of the file once it was applied.
    """

    def __init__(self, values: YamlValues, urdf: Any) -> None:
        self.urdf, self._values = urdf, values
        self._pairs = values.pairs("closed_loop")
        self._types = _list_or_word(values, "type")
        self._prefix = values.word("name_closedloop")
        self._count = values.number("closed_loop_number")
        self._ball = values.word("rotule_name")
        self._joints = values.names("joint_name")
        self._words = values.words("joint_type")
        self._motors = values.names("name_mot") if values.is_list("name_mot") else None
        self._motor = None if values.is_list("name_mot") else values.word("name_mot")
        unknown = [word for key, word in values.keys.items() if key not in KEYS]
        self.problems = [values.unknown("", word, "key", KEYS) for word in unknown]
        self.warnings: list[UrdfWarning] = []
        for word in self._types:
            if word.lower() not in LOOPS:
                raise values.unknown("type", word, "type of a loop", LOOPS)
        for word in self._words:
            if word not in JOINTS:
                raise values.unknown("joint_type", word, "joint type", JOINTS)
        if len(self._words) != len(self._joints):
            message = f"{len(self._words)} types for {len(self._joints)} joints of joint_name"
            raise values.error("joint_type", message)
        repeated = next((key for key in REPEATED if key in values.keys), None)
        if "name_mot" not in values.keys and repeated is not None:
            message = "gives motors as numbers of another library: name their joints by name_mot"
            raise values.error(repeated, message)

    def applied(self, mechanism: Mechanism) -> Mechanism:
        """A mechanism with the loops, types and motors, less what the problems are about."""
        joints = self._retyped(mechanism.joints)
        loops = self._loops(_frames(mechanism))
        actuators = mechanism.actuators
        if self._motors is not None or self._motor is not None:
            written = dict(actuators)
            named = self._motor_joints({joint.name: joint for joint in joints})
            coupled = (name for x in mechanism.transmissions for name in x.joints)
            names = dict.fromkeys((*named, *coupled))
            actuators = tuple((name, written.get(name, Actuator())) for name in names)
        for problem in self.problems:
            problem.leniently = "left out"
        self.problems.sort(key=lambda problem: problem.line or 0)
        return dataclasses.replace(
            mechanism, joints=joints, loops=(*mechanism.loops, *loops), actuators=actuators
        )

    def _tell(self, key: str, message: str, word: Word | None = None) -> None:
        self.problems.append(self._values.error(key, message, word))

    def _tell_unknown(self, key: str, word: Word, kind: str, known: Iterable[str]) -> None:
        self.problems.append(self._values.unknown(key, word, kind, known))

    def _tell_unused(self, key: str, word: Word, known: Iterable[str]) -> None:
        """A word that should be part of names."""
        shown = ", ".join(list(known)[:20])
        self._tell(key, f"{word!r} is part of no name; there are: {shown}", word)

    def _retyped(self, written: Iterable[Joint]) -> tuple[Joint, ...]:
        joints = {joint.name: joint for joint in written}
        types: dict[str, str] = {}
        if self._ball is not None:
            types = dict.fromkeys(moving(joints.values(), self._ball), BALL)
            if not types:
                self._tell_unused("rotule_name", self._ball, joints)
        for name, word in zip(self._joints, self._words, strict=True):
            if name in joints:
                types[name] = word
            else:
                self._tell_unknown("joint_name", name, "joint", joints)
        return tuple(of_type(x, types[x.name]) if x.name in types else x for x in joints.values())

    def _loops(self, frames: Mapping[str, set[str]]) -> list[Loop]:
        pairs = self._pairs
        if "closed_loop" not in self._values.keys and self._prefix is not None:
            pairs = self._numbered(self._prefix, frames)
        kinds = [LOOPS[word.lower()] for word in self._types] or [LOOPS["6d"]]
        if not self._values.is_list("type"):
            kinds *= len(pairs)
        elif len(self._types) != len(pairs):
            raise self._values.error("type", f"{len(self._types)} types for {len(pairs)} loops")
        found = []
        for (a, b), kind in zip(pairs, kinds, strict=False):
            one, other = (self._frame(word, frames) for word in (a, b))
            if one is not None and other is not None:
                found.append(Loop(f"{a}-{b}", kind, one, other, line=a.line))
        return found

    def _frame(self, word: Word, frames: Mapping[str, set[str]]) -> str | None:
        """The link of a frame."""
        links = sorted(frames.get(word, ()))
        if len(links) == 1:
            return links[0]
        if links:
            both = ", ".join(map(repr, links))
            message = f"{word!r} is a link, and a joint that moves another ({both})"
            self._tell("closed_loop", message, word)
        else:
            self._tell_unknown("closed_loop", word, "frame", frames)
        return None

    def _numbered(self, prefix: Word, frames: Mapping[str, set[str]]) -> list[tuple[Word, Word]]:
        """Pairs of frames whose names have the prefix and the same number in them."""
        key, numbered = "name_closedloop", dict[int, dict[frozenset[str], str]]()
        for name, links in frames.items():
            match = re.search(re.escape(prefix) + r"(\d+)", name)
            if match and "frame" not in name:
                numbered.setdefault(int(match[1]), {}).setdefault(frozenset(links), name)
        pairs = []
        for number, ends in sorted(numbered.items()):
            names = [Word(name, prefix.line) for name in ends.values()]
            if len(names) == 2:
                pairs.append((names[0], names[1]))
            else:
                listed = ", ".join(names)
                message = f"{prefix}{number} is not in the names of two frames: {listed}"
                self._tell(key, message, prefix)
        alike = [name for name in frames if prefix in name]
        if not alike:
            self._tell_unused(key, prefix, frames)
        elif not numbered:
            self._tell(
                key,
                f"{prefix!r} is in the names of frames ({', '.join(alike[:5])}), but without "
                f"a number behind it, as in {prefix}1, that would make pairs of them",
                prefix,
            )
        elif self._count not in (None, -1, len(pairs)):
            there = f"{len(pairs)} pairs of frames {prefix!r} are there"
            self._tell("closed_loop_number", f"is {self._count}, but {there}")
        return pairs

    def _motor_joints(self, known: Mapping[str, Joint]) -> list[str]:
        """Joints with motors, each once."""
        if self._motor is not None:
            found = moving(known.values(), self._motor)
            if not found:
                self._tell_unused("name_mot", self._motor, known)
            return found
        found, others = [], []
        for word in self._motors or ():
            alike = moving(known.values(), word)
            if word in known and not known[word].nv:
                message = f"{word!r} is a fixed joint, which can have no motor"
                self._tell("name_mot", message, word)
            elif word in known:
                found.append(str(word))
                others += [(word, name) for name in alike]
            elif alike:
                found += alike
            else:
                self._tell_unknown("name_mot", word, "joint", known)
        for word, name in others:
            if name not in found:
                self.warnings.append(
                    UrdfWarning(
                        f"{word!r} is a joint, and part of the name of {name!r}, which gets "
                        "no motor: name that too if it has one",
                        file=self._values.file,
                        line=word.line,
                        element="name_mot",
                    )
                )
        return list(dict.fromkeys(found))


def _list_or_word(values: YamlValues, key: str) -> list[Word]:
    if values.is_list(key):
        return values.words(key)
    word = values.word(key)
    return [] if word is None else [word]


def _frames(mechanism: Mechanism) -> dict[str, set[str]]:
    """Links that a name means: a link, or the child link of a joint."""
    frames = {link.name: {link.name} for link in mechanism.links}
    for joint in mechanism.joints:
        frames.setdefault(joint.name, set()).add(joint.child)
    return frames


def read_extension(path: Path, urdf: Any = None) -> Extension:
    """Read a YAML file.

    Raises `UrdfError` if it is no Extended URDF, `MissingExtraError` if PyYAML is not installed.

    urdf, optional: The URDF that it belongs to. Default: the one that it names, or that stands
        beside it.
    """
    values = YamlValues(path)
    return Extension(values, _urdf_of(path, values) if urdf is None else urdf)


def _urdf_of(path: Path, values: YamlValues) -> Path:
    """The URDF that a YAML file names, or that stands beside it."""
    named = values.word("urdf")
    beside = sorted(path.parent.glob("*.urdf"))
    if named is not None:
        if not (path.parent / named).is_file() and len(beside) == 1:
            raise values.unknown("urdf", named, "file", [beside[0].name])
        return path.parent / named
    for candidate in (path.with_suffix(".urdf"), path.parent / "robot.urdf"):
        if candidate.is_file():
            return candidate
    if len(beside) == 1:
        return beside[0]
    listed = ", ".join(file.name for file in beside) or "none"
    raise UrdfError(
        f"which URDF it belongs to is not known: {path.stem}.urdf, robot.urdf or a single one "
        f"stands beside it, or urdf: FILE says it; there are: {listed}",
        file=str(path),
    )
