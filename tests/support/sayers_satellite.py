"""The bundled satellite without some of its links, and without the lumping of its inertias."""

import dataclasses

import robodyn as rd
from robodyn import urdf

#: Links left out where only these stay.
BUS_AND_CLOCK = ("camera", "boom_root", "boom")


def satellite(*left_out, **options):
    """The satellite in free flight, without some of its links."""
    mechanism = urdf.load_mechanism("satellite")
    links = tuple(link for link in mechanism.links if link.name not in left_out)
    joints = tuple(joint for joint in mechanism.joints if joint.child not in left_out)
    kept = dataclasses.replace(mechanism, links=links, joints=joints)
    return rd.load(kept, base="floating", gravity=(0.0, 0.0, 0.0), **options)
