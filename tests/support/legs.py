"""Legs with closed loops, written as they are found: a URDF that is a tree, and a YAML beside it.

The YAML names pairs of frames that coincide; which joints they replace is not said, so that a pin
is often a hinge and a weld. Rods have universal and ball joints, as such or as hinges through one
point. At zero position the loops of some stand open, as drawings of legs do.
"""

import dataclasses
from pathlib import Path

X, Y, Z = "1 0 0", "0 1 0", "0 0 1"


@dataclasses.dataclass
class Leg:
    """Links and joints as text, and pairs of frames.

    Attributes
    ----------
    body : list of str
        Elements of the URDF.
    pairs : list of (str, str, str)
        Frames, and ``"3d"`` or ``"6d"``.
    motors : list of str
    universal : list of str
        Joints that are universal ones, about x and y.
    """

    body: list[str] = dataclasses.field(default_factory=list)
    pairs: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)
    motors: list[str] = dataclasses.field(default_factory=list)
    universal: list[str] = dataclasses.field(default_factory=list)

    def link(self, name, mass=0.0, at=(0.0, 0.0, 0.0), size=0.1):
        """A ball of a mass around a point, or a frame without mass."""
        i = 0.1 * mass * size**2
        inertial = (
            f'<inertial><origin xyz="{_text(at)}"/><mass value="{mass}"/><inertia ixx="{i}" '
            f'ixy="0" ixz="0" iyy="{1.2 * i}" iyz="0" izz="{0.9 * i}"/></inertial>'
        )
        self.body.append(f'<link name="{name}">{inertial if mass else ""}</link>')

    def joint(self, name, parent, child, at=(0.0, 0.0, 0.0), axis=Y, *, reach=None, kind=None):
        """A hinge, with limits if ``reach`` gives them; or a fixed joint."""
        kind = kind or ("continuous" if reach is None else "revolute")
        limit = "" if reach is None else f'<limit lower="{reach[0]}" upper="{reach[1]}"/>'
        self.body.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{_text(at)}"/><axis xyz="{axis}"/>{limit}</joint>'
        )

    def frame(self, name, on, at):
        """A frame on a link."""
        self.link(name)
        self.joint(f"{name}_fixed", on, name, at, kind="fixed")

    def hinged(self, name, parent, mass, length, at, *, axis=Y, reach=None, motor=False):
        """A bar that hangs on a hinge."""
        self.link(name, mass, (0.0, 0.0, -0.5 * length), length)
        self.joint(f"{name}_joint", parent, name, at, axis, reach=reach)
        if motor:
            self.motors.append(f"{name}_joint")

    def in_one_point(self, name, parent, at, axes):
        """Hinges through one point, with small bodies between; the last link bears the name."""
        for n, axis in enumerate(axes):
            last = n == len(axes) - 1
            link = name if last else f"{name}_{n}"
            if not last:
                self.link(link, 0.02, size=0.05)
            self.joint(f"{link}_joint", parent, link, at if n == 0 else (0, 0, 0), axis)
            parent = link

    def rod(self, name, foot, crank_at, rod_at, foot_at, parent, *, ends):
        """A crank on ``parent`` and a rod from it to a point of the foot.

        ``ends``: ``"rods"`` of a universal and a ball joint, ``"hinges"`` in their place.
        """
        crank, bar = f"{name}_crank", f"{name}_rod"
        out = tuple(0.5 * c for c in rod_at)
        self.link(crank, 0.1, out, 0.05)
        self.joint(f"{crank}_joint", parent, crank, crank_at, Y, reach=(-1.2, 1.2))
        self.motors.append(f"{crank}_joint")
        tip = tuple(f - c - r for f, c, r in zip(foot_at[1], crank_at, rod_at, strict=True))
        middle = tuple(0.5 * c for c in tip)
        self.link(bar, 0.15, middle, 0.2)
        if ends == "rods":
            self.joint(f"{bar}_joint", crank, bar, rod_at, X)
            self.universal.append(f"{bar}_joint")
            self.frame(f"{bar}_tip", bar, tip)
        else:
            self.in_one_point(bar, crank, rod_at, (X, Y))
            self.in_one_point(f"{bar}_tip", bar, tip, (X, Y, Z))
            self.link(f"{bar}_tip", 0.02, size=0.05)
        self.frame(f"{name}_ball", foot, foot_at[0])
        self.pairs.append((f"{bar}_tip", f"{name}_ball", "3d" if ends == "rods" else "6d"))

    def ankle(self, name, shank, foot, below, *, ends):
        """A foot on a universal joint, turned by two cranks beside the shank over rods."""
        if ends == "rods":
            self.joint(f"{foot}_joint", shank, foot, (0, 0, -below), X)
            self.universal.append(f"{foot}_joint")
        else:
            self.in_one_point(foot, shank, (0, 0, -below), (X, Y))
        self.link(foot, 0.8, (0.03, 0.0, -0.04), 0.15)
        for side, y in (("left", 0.05), ("right", -0.05)):
            end = (-0.06, y, -0.01)
            at = (end[0], end[1], end[2] - below)
            crank, arm = (0.0, y, -0.3 * below), (-0.06, 0.0, 0.0)
            self.rod(f"{name}_{side}", foot, crank, arm, (end, at), shank, ends=ends)

    def knee(self, name, thigh, shank, below, drive=True):
        """Two crossed bars between thigh and shank; the pin that closes them is a hinge welded."""
        front, rear = f"{name}_front", f"{name}_rear"
        a, b = (-0.02, 0.0, -below), (0.02, 0.0, -below)
        self.link(front, 0.2, (0.02, 0.0, -0.02), 0.05)
        self.joint(f"{front}_joint", thigh, front, a, Y, reach=(-1.0, 1.0))
        self.link(rear, 0.2, (-0.02, 0.0, -0.02), 0.05)
        self.joint(f"{rear}_joint", thigh, rear, b, Y)
        self.joint(f"{shank}_joint", front, shank, (0.04, 0.0, -0.04), Y)
        self.link(f"{name}_pin")
        self.body[-1] = self.body[-1].replace("></link>", f">{_SPECK}</link>")
        self.joint(f"{name}_pin_joint", rear, f"{name}_pin", (-0.04, 0.0, -0.04), Y)
        self.frame(f"{name}_hole", shank, (-0.04, 0.0, 0.0))
        self.pairs.append((f"{name}_pin", f"{name}_hole", "6d"))
        if drive:
            self.motors.append(f"{front}_joint")

    def urdf(self, name):
        """The URDF."""
        return f'<robot name="{name}">\n' + "\n".join(self.body) + "\n</robot>\n"

    def yaml(self):
        """The YAML."""
        pairs = ", ".join(f"[{one}, {other}]" for one, other, _ in self.pairs)
        text = f"closed_loop: [{pairs}]\ntype: [{', '.join(kind for *_, kind in self.pairs)}]\n"
        text += f"name_mot: [{', '.join(self.motors)}]\n"
        if self.universal:
            kinds = ", ".join("UJOINT_XY" for _ in self.universal)
            text += f"joint_name: [{', '.join(self.universal)}]\njoint_type: [{kinds}]\n"
        return text


#: A small body, where a hinge ends at a weld.
_SPECK = (
    '<inertial><mass value="0.02"/><inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" '
    'izz="1e-5"/></inertial>'
)


def _text(numbers):
    return " ".join(repr(float(x)) for x in numbers)


def five_bar():
    """Two thighs and two shanks in a plane; a hinge and a weld close them. Open at zero."""
    leg = Leg()
    leg.link("trunk", 5.0)
    for side, x, knee in (("front", 0.06, (0.1, 2.6)), ("rear", -0.06, (-2.6, -0.1))):
        thigh = f"{side}_thigh"
        leg.hinged(thigh, "trunk", 0.8, 0.25, (x, 0, 0), reach=(-1.5, 1.5), motor=True)
        leg.hinged(f"{side}_shank", thigh, 0.5, 0.3, (0, 0, -0.25), reach=knee)
    leg.hinged("pin", "rear_shank", 0.05, 0.05, (0, 0, -0.3))
    leg.frame("toe", "front_shank", (0, 0, -0.3))
    leg.pairs.append(("pin", "toe", "6d"))
    return leg


def rods():
    """A foot held by rods of a universal and a ball joint each."""
    leg = Leg()
    leg.link("shank", 2.0)
    leg.ankle("ankle", "shank", "foot", 0.35, ends="rods")
    return leg


def differential_ankle():
    """The same with each universal and ball joint as hinges through one point, and welds."""
    leg = Leg()
    leg.link("shank", 2.0)
    leg.ankle("ankle", "shank", "foot", 0.35, ends="hinges")
    return leg


def four_bar_knee():
    """A thigh that swings, and a shank on two crossed bars."""
    leg = Leg()
    leg.link("trunk", 5.0)
    leg.hinged("thigh", "trunk", 2.5, 0.35, (0, 0, 0), reach=(-1.5, 1.5), motor=True)
    leg.knee("knee", "thigh", "shank", 0.35)
    leg.link("shank", 1.5, (0.0, 0.0, -0.15), 0.3)
    return leg


def biped(sides=("left", "right")):
    """Two legs: hips turned by rods, knees of crossed bars, ankles of rods whose ends are hinges.

    On a floating base it has 60 speeds, and 20 freedoms.
    """
    leg = Leg()
    leg.link("trunk", 12.0, (0.0, 0.0, 0.2), 0.4)
    for side in sides:
        y = 0.1 if side == "left" else -0.1
        thigh, shank, foot = (f"{side}_{part}" for part in ("thigh", "shank", "foot"))
        leg.hinged(
            f"{side}_hip", "trunk", 1.0, 0.1, (0, y, 0), axis=Z, reach=(-0.6, 0.6), motor=True
        )
        leg.ankle(f"{side}_hip", f"{side}_hip", thigh, 0.1, ends="rods")
        leg.knee(f"{side}_knee", thigh, shank, 0.35)
        leg.link(shank, 1.5, (0.0, 0.0, -0.15), 0.3)
        leg.ankle(f"{side}_ankle", shank, foot, 0.35, ends="hinges")
    return leg


#: Leg -> how it is made, speeds on a fixed base, freedoms.
LEGS = {
    "five_bar": (five_bar, 5, 2),
    "rods": (rods, 8, 2),
    "differential_ankle": (differential_ankle, 14, 2),
    "four_bar_knee": (four_bar_knee, 5, 2),
    "biped": (biped, 54, 12),
}


def write(folder, name, **options):
    """Write a leg into a folder; the path of its YAML."""
    leg = LEGS[name][0](**options)
    Path(folder, f"{name}.urdf").write_text(leg.urdf(name))
    path = Path(folder, f"{name}.yaml")
    path.write_text(leg.yaml())
    return path
