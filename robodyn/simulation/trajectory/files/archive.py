"""Files of motions: archives of arrays (``.npz``)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields as dataclass_fields
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from robodyn.array_types import FloatArray
from robodyn.description.wrench import PointOfLink
from robodyn.motion.base_motion import BaseMotion
from robodyn.simulation.friction.dry_friction import DryFriction
from robodyn.simulation.loads.prescribed_loads import PrescribedLoads, Sampled, Surroundings
from robodyn.simulation.trajectory.files.moved_robot import facts
from robodyn.simulation.trajectory.files.validity import reporting_damage
from robodyn.simulation.trajectory.states.event_record import EventRecord

#: Arrays that each motion has.
STATES = ("t", "q", "v", "a", "tau")
#: Arrays of the motion of the base.
BASE = ("base_pose", "base_twist", "base_acceleration")
#: Prefix, before the name of a link, of the external wrench on it.
WRENCH = "wrench:"
#: Prefix, before the name of a recorded state of controllers.
CONTROLLER_STATE = "controller_state:"
#: Prefix, before the number of a phase and a colon, of its arrays.
PHASE = "phase:"


def write(name: str, fields: Mapping[str, Any]) -> None:
    """Write all fields of a trajectory."""
    np.savez(name, **_arrays(fields))


def _arrays(fields: Mapping[str, Any]) -> dict[str, Any]:
    """All fields of a trajectory as arrays by name, those of phases with their prefix."""
    robot = fields["robot"]
    arrays = {key: fields[key] for key in (*STATES, "energy", "loop_residual")}
    t, q, v = (np.asarray(fields[key]) for key in ("t", "q", "v"))
    arrays.update(outside_arrays(fields["surroundings"], t, q, v))
    arrays.update({CONTROLLER_STATE + key: x for key, x in fields["controller_state"].items()})
    for k, phase in enumerate(fields["phases"]):
        own = _arrays({field.name: getattr(phase, field.name) for field in dataclass_fields(phase)})
        arrays.update({f"{PHASE}{k}:{key}": x for key, x in own.items()})
    return arrays | {
        "joint_names": np.array(fields["joint_names"], str),
        "driven": np.array(fields["driven"], np.int64),
        "friction": np.array(friction_text(fields["friction"])),
        "robot_name": np.array("" if robot is None else robot.name),
        "robot_facts": np.array(json.dumps(facts(robot))),
        "not_saved": np.array(fields["not_saved"], str),
        "events": np.array(events_text(fields["events"])),
    }


def outside_arrays(
    surroundings: Surroundings, t: FloatArray, q: FloatArray, v: FloatArray
) -> dict[str, FloatArray]:
    """Base motion and external wrenches, one row for each sample, by their names in files."""
    acting, arrays = surroundings.sampled(t, q, v), {}
    if isinstance(acting.base, BaseMotion):
        arrays = dict(zip(BASE, acting.base.parts, strict=True))
    for link, wrench in acting.wrenches_at(t, q, v).items():
        arrays[WRENCH + link] = np.broadcast_to(wrench, (*q.shape[:-1], 6))
    return arrays


def events_text(events: tuple[EventRecord, ...]) -> str:
    """Events as JSON."""
    return json.dumps([asdict(event) for event in events])


def friction_text(friction: DryFriction | None) -> str:
    """The law of joints that stick as JSON; empty where friction is smooth."""
    return "" if friction is None else json.dumps(asdict(friction))


@reporting_damage
def read(source: Path) -> dict[str, Any]:
    """The fields of a trajectory from an archive, and the name of its robot.

    Raises ShapeError: If it is damaged or holds something else.
    """
    with ZipFile(source) as members:  # numpy reports damaged archives as pickled data
        _check_sizes(members, source.stat().st_size)
    with np.load(source, allow_pickle=False) as held:
        return fields_of({name: held[name] for name in held.files}, "energy", "loop_residual")


def fields_of(arrays: Mapping[str, Any], *computed: str) -> dict[str, Any]:
    """The fields of a trajectory from its arrays, and those that were computed from these."""
    for name in arrays:
        if name in BASE or name.startswith(WRENCH):
            _real(name, arrays[name])
    fields: dict[str, Any]
    fields = {name: _real(name, arrays[name]) for name in (*STATES, *computed)}
    check_columns(fields)
    fields |= {name: tuple(np.ravel(arrays[name]).tolist()) for name in ("joint_names", "driven")}
    events = json.loads(str(arrays["events"]))
    fields["events"] = tuple(EventRecord(**{**x, "motion": tuple(x["motion"])}) for x in events)
    fields["surroundings"] = _surroundings(arrays)
    fields["controller_state"] = _after(CONTROLLER_STATE, arrays)
    law = str(arrays.get("friction", ""))
    fields["friction"] = DryFriction(**json.loads(law)) if law else None
    fields["robot_name"] = str(arrays["robot_name"])
    fields["robot_facts"] = json.loads(str(arrays.get("robot_facts", "{}")))
    fields["not_saved"] = tuple(np.ravel(arrays.get("not_saved", ())).tolist())
    phases: dict[str, dict[str, Any]] = {}
    for name, x in _after(PHASE, arrays).items():
        k, _, own = name.partition(":")
        phases.setdefault(k, {})[own] = x
    fields["phases"] = tuple(fields_of(phases[k], *computed) for k in sorted(phases, key=int))
    return fields


def _after(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays whose names begin so, by what comes then."""
    return {key.removeprefix(prefix): x for key, x in arrays.items() if key.startswith(prefix)}


def _check_sizes(members: ZipFile, size: int) -> None:
    """Refuse an archive whose arrays are larger than its file, before they take memory.

    `write` does not compress them.
    """
    total = sum(member.file_size for member in members.infolist())
    if total > size:
        raise ValueError(
            f"its arrays take {total} bytes, and the file has {size}: those of a trajectory are "
            "not compressed"
        )
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0,
    }  # fmt: skip
    for member in members.infolist():
        with members.open(member) as file:
            version = np.lib.format.read_magic(file)
            if version not in readers:
                raise ValueError(f"{member.filename} is of version {version}")
            shape, _, dtype = readers[version](file)
            needed = file.tell() + dtype.itemsize * math.prod(shape)
        if needed != member.file_size:
            raise ValueError(
                f"{member.filename} says that it has shape {shape}, {needed} bytes, but has "
                f"{member.file_size}"
            )


def _real(name: str, x: FloatArray) -> FloatArray:
    """Check that a field has real numbers."""
    if x.dtype.kind not in "fiu":
        raise ValueError(f"{name} holds {x.dtype.name}, expected real numbers")
    return x if x.dtype == np.float32 else np.asarray(x, float)


def check_columns(fields: Mapping[str, Any]) -> None:
    """Check that arrays have consistent shapes."""
    rows, batch = np.shape(fields["t"]), np.shape(fields["q"])[:-1]
    for name in STATES[1:]:
        shape = np.shape(fields[name])
        if not shape or shape[: len(rows)] != rows or shape[:-1] != batch:
            raise ValueError(f"{name} has shape {shape}, t {rows}")
    if not np.shape(fields["v"]) == np.shape(fields["a"]) == np.shape(fields["tau"]):
        raise ValueError("v, a and tau have different shapes")


def _surroundings(arrays: Mapping[str, Any]) -> Surroundings:
    """Base motion and external wrenches at samples."""
    wrenches = {PointOfLink.read(name): x for name, x in _after(WRENCH, arrays).items()}
    base = BaseMotion(*(arrays[name] for name in BASE)) if BASE[0] in arrays else None
    if base is None and not wrenches:
        return PrescribedLoads()
    return Sampled(arrays["t"], base, wrenches)
