"""Which joints of a graph are cut: the rule of `robodyn.topology`, written down again.

There a tree grows from the joints that are wanted most; here joints go, those wanted least first.
"""

from oracles.joint_motion import speed_count


def cut_joints(mechanism):
    """Names of the joints that no tree needs, the first to go first [W 5.3.2.3].

    From the whole graph, joints are taken away as long as all links stay connected: first those of
    many freedoms, whose constraints are few; among equals those that have no motor, that no other
    joint mimics and that are not marked; then those that turn; then the last of the file.
    """
    asked_for = {name for name, _ in mechanism.actuators}
    for joint in mechanism.joints:
        if joint.independent:
            asked_for.add(joint.name)
        if joint.mimic is not None:
            asked_for.update((joint.name, joint.mimic.joint))

    def dispensable(numbered):
        number, joint = numbered
        turns = joint.kind != "prismatic"
        return speed_count(joint.kind), joint.name not in asked_for, turns, number

    first, kept, cut = mechanism.links[0].name, list(mechanism.joints), []
    everything = _reached(kept, first)
    for _, joint in sorted(enumerate(mechanism.joints), key=dispensable, reverse=True):
        rest = [other for other in kept if other is not joint]
        if _reached(rest, first) == everything:
            kept = rest
            cut.append(joint.name)
    return cut


def _reached(joints, link):
    """Links to which joints lead from a link, in either direction."""
    found, waiting = {link}, [link]
    while waiting:
        here = waiting.pop()
        for joint in joints:
            for a, b in ((joint.parent, joint.child), (joint.child, joint.parent)):
                if a == here and b not in found:
                    found.add(b)
                    waiting.append(b)
    return found
