"""URDF+ texts with loops and couplings of many sorts, all closed at zero with parallel frames."""


def robot(*elements):
    links = "".join(
        f'<link name="{name}"><inertial><origin xyz="{0.1 * k} 0.05 {0.02 * k}"/>'
        f'<mass value="{1 + 0.3 * k}"/>'
        '<inertia ixx="0.02" ixy="0.002" ixz="0" iyy="0.03" iyz="-0.001" izz="0.04"/>'
        "</inertial></link>"
        for k, name in enumerate("base a b c d e f".split())
        if name == "base" or any(f'<child link="{name}"' in x for x in elements)
    )
    return f'<robot name="plus">{links}{"".join(elements)}</robot>'


def joint(name, kind, parent, child, xyz, axis="0 0 1", independent="false"):
    return (
        f'<joint name="{name}" type="{kind}" independent="{independent}"><parent link="{parent}"/>'
        f'<child link="{child}"/><origin xyz="{xyz}"/><axis xyz="{axis}"/></joint>'
    )


def loop(name, kind, one, xyz_one, other, xyz_other, axis="0 0 1"):
    return (
        f'<loop name="{name}" type="{kind}">'
        f'<predecessor link="{one}"><origin xyz="{xyz_one}"/></predecessor>'
        f'<successor link="{other}"><origin xyz="{xyz_other}"/></successor>'
        f'<axis xyz="{axis}"/></loop>'
    )


def coupling(name, one, other, ratio):
    return (
        f'<coupling name="{name}" type="rolling"><predecessor link="{one}"/>'
        f'<successor link="{other}"/><ratio value="{ratio}"/></coupling>'
    )


def crank_and_rocker(axis="0 0 1", rocker="0 0 1", rod="revolute"):
    """Crank a, rod b and rocker c; b and c have the point (1.2, 1.5, 0) in common."""
    return (
        joint("crank", "revolute", "base", "a", "0 0 0", axis, "true"),
        joint("rod", rod, "a", "b", "0.2 0.5 0", axis),
        joint("rocker", "revolute", "base", "c", "1.5 0 0", rocker),
    )


PIN = loop("pin", "revolute", "b", "1 1 0", "c", "-0.3 1.5 0")
GEAR = joint("gear", "continuous", "base", "d", "0 0 0.3")

#: Name -> (text, mobility, joints marked as independent that determine the rest or ``None``).
TEXTS = {
    "four_bar": (robot(*crank_and_rocker(), PIN), 1, ("crank",)),
    "negative_axes": (
        robot(
            *crank_and_rocker("0 0 -1", "0 0 1"),
            loop("pin", "revolute", "b", "1 1 0", "c", "-0.3 1.5 0", "0 0 -1"),
        ),
        1,
        ("crank",),
    ),
    "oblique_plane": (  # all axes parallel, along no coordinate axis
        robot(
            *crank_and_rocker("0.48 0.6 0.64", "-0.48 -0.6 -0.64"),
            loop("pin", "continuous", "b", "1 1 0", "c", "-0.3 1.5 0", "0.48 0.6 0.64"),
        ),
        1,
        ("crank",),
    ),
    "skew_axes": (  # two skew cranks and a rod with two balls, which spins
        robot(
            *crank_and_rocker("1 2 3", "-1 0.5 2", rod="spherical"),
            loop("ball", "spherical", "b", "1 1 0", "c", "-0.3 1.5 0"),
        ),
        2,
        None,
    ),
    "cylinder_between_skew_axes": (
        robot(
            *crank_and_rocker("1 2 3", "-1 0.5 2", rod="spherical"),
            joint("piston", "prismatic", "b", "d", "0 0 0", "1 1 0"),
            loop("ball", "spherical", "d", "1 1 0", "c", "-0.3 1.5 0"),
        ),
        3,
        None,
    ),
    "slider_crank": (
        robot(
            *crank_and_rocker()[:2],
            joint("block", "revolute", "b", "c", "1 1 0", "0 0 -1"),
            loop("guide", "prismatic", "base", "0.2 1.5 0", "c", "-1 0 0", "-1 0 0"),
        ),
        1,
        ("crank",),
    ),
    "slide_in_the_tree": (  # a row of the loop is linear in the slide's coordinate
        robot(
            *crank_and_rocker()[:2],
            joint("slide", "prismatic", "base", "c", "0 1.5 0", "1 0 0"),
            loop("pin", "revolute", "b", "1 1 0", "c", "1.2 0 0"),
        ),
        1,
        ("crank",),
    ),
    "boom_with_cylinder": (
        robot(
            joint("boom", "revolute", "base", "a", "0 0 0", "0 -1 0"),
            joint("barrel", "revolute", "base", "b", "0.5 0 -0.4", "0 1 0"),
            joint("piston", "prismatic", "b", "c", "0.1 0 0.2", "0.5 0 1", "true"),
            loop("eye", "revolute", "c", "0.2 0 0.5", "a", "0.8 0 0.3", "0 1 0"),
        ),
        1,
        ("piston",),
    ),
    "loop_and_gear": (
        robot(*crank_and_rocker(), GEAR, PIN, coupling("teeth", "a", "d", -2.5)),
        1,
        ("crank",),
    ),
    "geared_five_bar": (
        robot(
            *crank_and_rocker(),
            joint("tie", "revolute", "c", "d", "-0.1 0.7 0"),
            loop("pin", "revolute", "b", "1 1 0", "d", "-0.2 0.8 0"),
            coupling("teeth", "a", "c", -1.0),
        ),
        1,
        ("crank",),
    ),
    "belt_over_two_joints": (  # the rocker turns with the sum of two angles: not eliminated
        robot(
            *crank_and_rocker(),
            joint("tie", "revolute", "c", "d", "-0.1 0.7 0", "0 0 -1"),
            joint("lift", "prismatic", "b", "e", "0 0 0.2", "0 1 0", "true"),
            loop("pin", "revolute", "b", "1 1 0", "d", "-0.2 0.8 0"),
            coupling("belt", "b", "c", 0.5),
        ),
        2,
        ("crank", "lift"),
    ),
    "two_loops": (
        robot(
            *crank_and_rocker(),
            joint("second_rod", "revolute", "c", "d", "0.5 1 0"),
            joint("second_rocker", "revolute", "base", "e", "3 0 0"),
            PIN,
            loop("second_pin", "revolute", "d", "1 0.5 0", "e", "0 1.5 0", "0 0 1"),
        ),
        1,
        ("crank",),
    ),
    "plate_on_a_plane": (
        robot(
            joint("ball", "spherical", "base", "a", "0 0 0"),
            joint("arm", "prismatic", "a", "b", "0 0 0.5", "0 0 1"),
            joint("foot", "spherical", "b", "c", "0 0 0.5"),
            loop("floor", "planar", "base", "0.3 0 1", "c", "0 0.1 0", "0 0 1"),
        ),
        4,
        None,
    ),
    "welded": (
        robot(
            *crank_and_rocker(rod="universal"),
            joint("pin", "spherical", "c", "d", "-0.3 1.5 0"),
            loop("weld", "fixed", "b", "1 1 0", "d", "0 0 0"),
        ),
        1,
        None,
    ),
}
