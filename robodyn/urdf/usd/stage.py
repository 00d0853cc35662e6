"""A file of USD that is open: its prims, their names, poses and numbers in metres and kilograms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.errors import RobodynError, UrdfError, UrdfWarning
from robodyn.motion.base_motion import rotation_from_quaternion
from robodyn.urdf.usd.schema import EXACT, usd

#: Name of what joints without a body are fastened to.
WORLD = "world"

#: Ends of names by which USD tells its formats.
SUFFIXES = (".usda", ".usdc", ".usd", ".usdz")

#: How far the axes of a body may be from perpendicular: scales above it are in single precision.
SKEW = 1e-5

#: Most prims that are read.
MOST_PRIMS = 200_000


class Stage:
    """A stage, ``prims`` in order, ``length`` and ``mass`` in metres and kilograms a unit.

    Raises UrdfError: A file that cannot be read, or that refers to others outside its folder.
    Raises MissingExtraError: Without usd-core.
    """

    def __init__(self, file: str) -> None:
        self.problems: list[RobodynError] = []
        self.warnings: list[UrdfWarning] = []
        self.file, self.pxr = file, usd()
        _check_layers(self.pxr, file)
        try:
            stage = self.pxr.Usd.Stage.Open(file)
        except Exception as error:  # of pxr's own type, with a traceback of C++ in it
            line = str(error).strip().splitlines()[0][:200]
            raise UrdfError(f"USD cannot be read: {line}", file=file) from None
        geometry, physics = self.pxr.UsdGeom, self.pxr.UsdPhysics
        self.length = float(geometry.GetStageMetersPerUnit(stage))
        self.mass = float(physics.GetStageKilogramsPerUnit(stage))
        for what, unit in (("metersPerUnit", self.length), ("kilogramsPerUnit", self.mass)):
            if not 0.0 < unit < math.inf:
                raise UrdfError(f"{what} is {unit:g}: a unit is a positive number", file=file)
        self.stage, self.prims = stage, list(self._traversed(stage))
        self.names: dict[str, str] = {}
        self._taken = {WORLD}

    def _traversed(self, stage: Any) -> Iterator[Any]:
        for count, prim in enumerate(stage.Traverse()):
            if count > MOST_PRIMS:
                raise UrdfError(
                    f"has more than {MOST_PRIMS} prims: open it in a program for scenes, and write "
                    "the robot alone",
                    file=self.file,
                )
            if prim.HasAuthoredMetadata("clips"):
                raise UrdfError(
                    "refers to value clips, motions in other files, which are not read: take them "
                    "out of the file of the robot",
                    file=self.file,
                    element=str(prim.GetPath()),
                )
            yield prim

    def name(self, prim: Any) -> str:
        """A name that no other prim of its kind has."""
        path = str(prim.GetPath())
        if path not in self.names:
            name = str(prim.GetCustomDataByKey("name") or prim.GetName())
            kind = "joint " if prim.IsA(self.pxr.UsdPhysics.Joint) else ""
            self.names[path] = self.free_name(kind + name).removeprefix(kind)
        return self.names[path]

    def free_name(self, name: str) -> str:
        """The name, or one made of it that no link has."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def pose(self, prim: Any) -> FloatArray:
        """Pose in the world, shape (4, 4) [1, m]."""
        cache = self.pxr.UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(0.0)
        X = np.array(cache, float).T
        scale = np.linalg.norm(X[:3, :3], axis=0)
        X[:3, :3] /= np.where(scale > 0.0, scale, 1.0)
        off = np.abs(X[:3, :3].T @ X[:3, :3] - np.eye(3)).max()
        if not (off < SKEW and np.linalg.det(X[:3, :3]) > 0.0 and np.isfinite(X).all()):
            raise UrdfError(
                "is mirrored, skewed or made flat by the scales above it: no rigid body is; apply "
                "the scales where the file was made",
                file=self.file,
                element=str(prim.GetPath()),
            )
        X[:3, 3] *= self.length
        return X

    def scale(self, prim: Any) -> FloatArray:
        """Scale of the axes of a body, in metres a unit."""
        matrix = self.pxr.UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(0.0)
        return np.asarray(np.linalg.norm(np.array(matrix, float)[:3, :3], axis=1)) * self.length

    def numbers(self, prim: Any, name: str, default: Any = None) -> Any:
        """An attribute, with all digits where they stand beside it."""
        short = name.rpartition(":")[2]
        attribute, exact = prim.GetAttribute(name), prim.GetAttribute(EXACT + short)
        value = attribute.Get() if attribute and attribute.HasAuthoredValue() else None
        if value is None:
            return default
        try:
            numbers = np.ravel(_plain(value)).astype(float)
        except (TypeError, ValueError):
            numbers = np.array([np.nan])
        if np.isnan(numbers).any():
            message = f"{name} is {str(value)[:60]!r}, expected numbers"
            raise UrdfError(message, file=self.file, element=str(prim.GetPath()))
        if exact and exact.HasAuthoredValue():
            full = np.array(exact.Get(), float)
            if np.array_equal(full.astype(np.float32), numbers.astype(np.float32)):
                numbers = full
        return numbers if len(numbers) > 1 else float(numbers[0])

    def rotation(self, prim: Any, name: str) -> FloatArray:
        """Matrix of an attribute that is a quaternion, shape (3, 3)."""
        w, x, y, z = self.numbers(prim, name, np.eye(4)[0])
        size = float(np.linalg.norm((w, x, y, z)))
        if not 0.0 < size < np.inf:
            raise UrdfError(
                f"{name} is a quaternion of length {size:g}, expected 1",
                file=self.file,
                element=str(prim.GetPath()),
            )
        return np.asarray(rotation_from_quaternion((x / size, y / size, z / size, w / size)))

    def problem(self, prim: Any, message: str) -> None:
        """Report an element that is left out where reading is lenient, and refused else."""
        element = f"joint {prim.GetPath()}"
        self.problems.append(
            UrdfError(message, file=self.file, element=element, leniently="left out")
        )

    def warn(self, prim: Any, message: str) -> None:
        """Report what is read otherwise than it is written."""
        self.warnings.append(UrdfWarning(f"{prim.GetPath()} {message}", file=self.file))


def _check_layers(pxr: Any, file: str) -> None:
    """Refuse files outside the folder of a file, before anything is composed of them."""
    folder, seen = Path(file).resolve().parent, set[str]()
    waiting = [str(Path(file).resolve())]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if not Path(path).resolve().is_relative_to(folder):
            raise UrdfError(
                f"refers to {path}, which is outside its folder {folder}: copy it there",
                file=file,
            )
        if Path(path).suffix not in SUFFIXES:
            raise UrdfError(
                f"is USD, which the end of its name has to say: call it {', '.join(SUFFIXES)}",
                file=path,
            )
        if not Path(path).is_file():
            raise UrdfError(f"refers to {path}, which is not there", file=file)
        try:
            layer = pxr.Sdf.Layer.FindOrOpen(path)
        except Exception as error:
            line = str(error).strip().splitlines()[0][:200]
            raise UrdfError(f"USD cannot be read: {line}", file=path) from None
        if layer is None:
            raise UrdfError("USD cannot be read: the file is damaged", file=path)
        for asset in layer.GetCompositionAssetDependencies():
            waiting.append(str((Path(path).parent / asset).resolve()))


def _plain(value: Any) -> Any:
    """Numbers of a vector or quaternion of pxr; quaternions with w first."""
    if hasattr(value, "GetReal"):
        return [value.GetReal(), *value.GetImaginary()]
    return value
