"""What a written URDF says that no other reader of URDF understands."""

from __future__ import annotations

from collections.abc import Iterable

from robodyn.description import Mechanism
from robodyn.errors import some_of
from robodyn.joints import continuous, fixed, floating, planar, prismatic, revolute
from robodyn.topology.spanning_tree import cut_joints
from robodyn.urdf.write import as_written, is_written_as_joint, written_as_motors

#: Kinds of joints that URDF has.
_STANDARD = {kind.KIND.name for kind in (continuous, fixed, floating, planar, prismatic, revolute)}


def refused_by_others(mechanism: Mechanism, *, strict_tree: bool = False) -> list[str]:
    """What is written of a mechanism and makes other readers refuse the file, in lines.

    Parameters
    ----------
    strict_tree : bool
        Whether loops are written as ``<loop>``.

    Examples
    --------
    >>> import robodyn as rd
    >>> refused_by_others(rd.load("four_bar").mechanism, strict_tree=True)
    []
    """
    written = as_written(mechanism, strict_tree=strict_tree)
    odd: dict[str, list[str]] = {}
    for joint in written.joints:
        if joint.kind not in _STANDARD:
            odd.setdefault(joint.kind, []).append(joint.name)
    lines = [
        f"other readers refuse the file, for its {kind} joints ({some_of(names)})"
        for kind, names in odd.items()
    ]
    cut = [joint.name for joint in cut_joints(written)]
    cut += [loop.name for loop in written.loops if is_written_as_joint(loop, strict_tree)]
    if cut:
        advice = "" if strict_tree else ": --strict-tree writes <loop>"
        lines.append(
            f"other readers refuse the file, or mistake it for a tree, for joints that close loops "
            f"({some_of(cut)}){advice}"
        )
    return lines


def left_out_by_others(mechanism: Mechanism, *, strict_tree: bool = False) -> list[str]:
    """What is written of a mechanism and is nothing to other readers, in lines.

    Examples
    --------
    >>> import robodyn as rd
    >>> left_out_by_others(rd.load("double_pendulum", springs={"elbow": (3.0, 0.1)}).mechanism)
    ['only robodyn reads springs of joints (elbow)']
    """
    mechanism = as_written(mechanism, strict_tree=strict_tree)
    movers = mechanism.movers
    loops = [x for x in mechanism.loops if not is_written_as_joint(x, strict_tree)]
    odd: dict[str, Iterable[str]] = {
        "armature of joints": (x.name for x in movers if x.armature),
        "springs of joints": (x.name for x in movers if x.stiffness),
        "the choice of independent joints": (x.name for x in mechanism.joints if x.independent),
        "<loop>": (x.name for x in loops),
        "<motor>, with gears, rotors and friction": written_as_motors(mechanism),
        "<matrix> of transmissions": (x.name for x in mechanism.transmissions),
        "<coupling>": (x.name for x in mechanism.couplings),
        "<follower>": (x.name for x in mechanism.followers),
        "<rotor>": (x.name for x in mechanism.rotors),
    }
    for tag in dict.fromkeys(x.tag for x in mechanism.link_elements):
        of_tag = [x for x in mechanism.link_elements if x.tag == tag]
        odd[f"<{tag}>"] = (x.name or "without a name" for x in of_tag)
    found = {what: [*names] for what, names in odd.items()}
    return [
        f"only robodyn reads {what} ({some_of(names)})" for what, names in found.items() if names
    ]
