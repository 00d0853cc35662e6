"""Extended URDF: a YAML file beside a URDF that says which frames close loops, where motors are.

Batto et al., "Extended URDF" (arXiv 2504.04767), as their collection of parallel robots has it::

    closed_loop: [[frame_a, frame_b], ...]
    type: [6d, 3d, ...]               # of each loop; left out, 6d
    name_mot: [joint, ...]            # joints with motors
    joint_name: [joint, ...]          # joints of another type than the URDF says
    joint_type: [SPHERICAL, FIXED, UJOINT_XY, ...]
    urdf: robot.urdf                  # ours; left out, the file of the same name, or robot.urdf

A frame is a link, or the child link of a joint.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robodyn.description import Actuator, Joint, Loop, Mechanism, Vector
from robodyn.errors import MissingExtraError, UnknownNameError, UrdfError
from robodyn.joints import fixed, spherical, universal
from robodyn.urdf.xml import decode, read_bytes

__all__ = ["SUFFIXES", "Extension", "read_extension"]

SUFFIXES = (".yaml", ".yml")

KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type", "urdf")
LOOPS = {"3d": spherical.KIND.name, "6d": fixed.KIND.name}
_AXES: dict[str, Vector] = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
#: Word -> kind, first and second axis.
JOINTS = {
    "SPHERICAL": (spherical.KIND, "X", "Y"),
    "FIXED": (fixed.KIND, "X", "Y"),
    "UJOINT_XY": (universal.KIND, "X", "Y"),
    "UJOINT_YZ": (universal.KIND, "Y", "Z"),
    "UJOINT_ZX": (universal.KIND, "Z", "X"),
}


@dataclasses.dataclass(frozen=True)
class Extension:
    """What a YAML file says.

    Attributes
    ----------
    file : str
    urdf : Path
    loops : tuple of (frame, frame, kind)
    joints : mapping of joint name to word of `JOINTS`
    motors : tuple of str or None
        Joints; ``None`` where nothing is said.
    """

    file: str
    urdf: Path
    loops: tuple[tuple[str, str, str], ...]
    joints: Mapping[str, str]
    motors: tuple[str, ...] | None

    def applied(self, mechanism: Mechanism) -> Mechanism:
        """A mechanism with the loops, types and motors.

        Raises
        ------
        UnknownNameError
            For frames and joints that it does not have.
        """
        joints = {joint.name: joint for joint in mechanism.joints}
        for name, word in self.joints.items():
            joint = joints[self._known("joint", name, joints)]
            joints[name] = _retyped(joint, word)
        frames = {joint.name: joint.child for joint in mechanism.joints}
        frames |= {link.name: link.name for link in mechanism.links}
        loops = []
        for a, b, kind in self.loops:
            ends = [frames[self._known("frame", name, frames)] for name in (a, b)]
            loops.append(Loop(f"{a}-{b}", kind, ends[0], ends[1]))
        actuators = mechanism.actuators
        if self.motors is not None:
            written = dict(actuators)
            actuators = tuple(
                (self._known("joint", name, joints), written.get(name, Actuator()))
                for name in self.motors
            )
        return dataclasses.replace(
            mechanism,
            joints=tuple(joints.values()),
            loops=(*mechanism.loops, *loops),
            actuators=actuators,
        )

    def _known(self, kind: str, name: str, known: Mapping[str, Any]) -> str:
        if name not in known:
            raise UnknownNameError(kind, name, known, self.file)
        return name


def _retyped(joint: Joint, word: str) -> Joint:
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


def read_extension(path: Path) -> Extension:
    """Read a YAML file.

    Raises
    ------
    UrdfError
        If it is no Extended URDF.
    MissingExtraError
        If PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("PyYAML", "yaml", f"reading {path.name}") from error
    file = str(path)
    try:
        said = yaml.safe_load(decode(read_bytes(path), file))
    except yaml.YAMLError as error:
        raise UrdfError(f"is no YAML: {error}", file=file) from error
    if not isinstance(said, dict) or not said:
        raise UrdfError("is no Extended URDF: expected keys " + ", ".join(KEYS), file=file)
    for key in said:
        if key not in KEYS:
            raise UrdfError(str(UnknownNameError("key", str(key), KEYS)), file=file)
    reader = _Reader(file, said)
    pairs = reader.pairs("closed_loop")
    kinds = reader.words("type", len(pairs), LOOPS, lower=True) if "type" in said else []
    kinds = kinds or ["6d"] * len(pairs)
    names = reader.names("joint_name")
    words = reader.words("joint_type", len(names), JOINTS)
    return Extension(
        file,
        _urdf(path, said.get("urdf")),
        tuple((a, b, LOOPS[kind]) for (a, b), kind in zip(pairs, kinds, strict=True)),
        dict(zip(names, words, strict=True)),
        tuple(reader.names("name_mot")) if "name_mot" in said else None,
    )


def _urdf(path: Path, named: Any) -> Path:
    if named is not None:
        if not isinstance(named, str):
            raise UrdfError("urdf is not the path of a file", file=str(path))
        return path.parent / named
    candidates = [path.with_suffix(".urdf"), path.parent / "robot.urdf"]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise UrdfError(
        f"there is no {' or '.join(c.name for c in candidates)} beside it; say urdf: FILE",
        file=str(path),
    )


class _Reader:
    """Lists of a YAML file, each held against what it should be."""

    def __init__(self, file: str, said: Mapping[str, Any]) -> None:
        self._file, self._said = file, said

    def names(self, key: str) -> list[str]:
        """A list of different names."""
        given = self._said.get(key) or []
        if not isinstance(given, list) or not all(isinstance(x, str) for x in given):
            raise self._wrong(key, "a list of names")
        if len(set(given)) < len(given):
            raise self._wrong(key, "a list of different names")
        return list(given)

    def words(
        self, key: str, count: int, known: Mapping[str, Any], *, lower: bool = False
    ) -> list[str]:
        """As many words of a list as there are others."""
        given = self._said.get(key) or []
        if not isinstance(given, list) or len(given) != count:
            raise self._wrong(key, f"a list of {count}")
        words = [str(x).lower() if lower else str(x) for x in given]
        for word in words:
            if word not in known:
                raise UrdfError(str(UnknownNameError(key, word, known)), file=self._file)
        return words

    def pairs(self, key: str) -> list[tuple[str, str]]:
        """A list of pairs of names."""
        given = self._said.get(key) or []
        good = isinstance(given, list) and all(
            isinstance(x, list) and len(x) == 2 and all(isinstance(y, str) for y in x)
            for x in given
        )
        if not good:
            raise self._wrong(key, "a list of pairs of names")
        return [(a, b) for a, b in given]

    def _wrong(self, key: str, expected: str) -> UrdfError:
        return UrdfError(f"{key} is not {expected}", file=self._file)
