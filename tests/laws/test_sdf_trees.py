"""Random trees, written as SDF and as URDF, are one robot."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robodyn as rd

KINDS = ["revolute", "prismatic", "continuous", "ball", "universal", "screw", "fixed"]
URDF_WORDS = {"ball": "spherical"}


def random_pose(rng):
    X = np.eye(4)
    X[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    X[:3, 3] = rng.uniform(-1, 1, 3)
    return X


def numbers(x):
    return " ".join(map(repr, np.asarray(x, float).tolist()))


def six(X):
    return numbers([*X[:3, 3], *Rotation.from_matrix(X[:3, :3]).as_euler("xyz")])


def origin(X):
    rpy = Rotation.from_matrix(X[:3, :3]).as_euler("xyz")
    return f'<origin xyz="{numbers(X[:3, 3])}" rpy="{numbers(rpy)}"/>'


def kinds_axes(kind):
    return range({"universal": 2, "ball": 0, "fixed": 0}.get(kind, 1))


def unit(rng):
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


class Tree:
    """Links L0, L1, ...; joint J1 leads to L1, and stands somewhere on it; frames F1, ..."""

    def __init__(self, seed, count=7):
        rng = self.rng = np.random.default_rng(seed)
        self.parents = [None, *(int(rng.integers(k)) for k in range(1, count))]
        self.kinds = ["fixed", *rng.permutation(KINDS)[: count - 1]]
        self.X_ML = [random_pose(rng) for _ in range(count)]
        self.X_LJ = [random_pose(rng) for _ in range(count)]
        self.X_LF = [random_pose(rng) for _ in range(count)]
        self.axes = [(unit(rng), unit(rng)) for _ in range(count)]
        self.inertias = [
            (rng.uniform(1, 2), random_pose(rng), rng.uniform(1, 1.5, 3).tolist())
            for _ in range(count)
        ]

    def frames(self):
        """Poses in the model, by name."""
        return (
            {f"L{k}": X for k, X in enumerate(self.X_ML)}
            | {f"J{k}": X @ self.X_LJ[k] for k, X in enumerate(self.X_ML) if k}
            | {f"F{k}": X @ self.X_LF[k] for k, X in enumerate(self.X_ML)}
            | {"__model__": np.eye(4)}
        )

    def sdf(self, *, flipped=()):
        """Each pose is relative to a frame that was drawn among those given before.

        Joints that are flipped lead from the child to the parent.
        """
        rng, frames = self.rng, self.frames()
        order = [
            name
            for k in range(len(self.parents))
            for name in rng.permutation([f"L{k}", f"J{k}", f"F{k}"])
        ]
        given, base = ["__model__"], {}
        for name in order:
            base[name] = str(rng.choice(given))
            given += [name] if name in frames else []

        def pose(name):
            X = np.linalg.inv(frames[base[name]]) @ frames[name]
            return f'<pose relative_to="{base[name]}">{six(X)}</pose>'

        def axis(k, i):
            at = str(rng.choice(given))
            x = frames[at][:3, :3].T @ frames[f"J{k}"][:3, :3] @ self.axes[k][i]
            if k in flipped:
                x, i = -x, len(kinds_axes(self.kinds[k])) - 1 - i
            tag = ("axis", "axis2")[i]
            return f'<{tag}><xyz expressed_in="{at}">{numbers(x)}</xyz></{tag}>'

        parts = []
        for k, parent in enumerate(self.parents):
            mass, X, (ixx, iyy, izz) = self.inertias[k]
            parts.append(
                f'<link name="L{k}">{pose(f"L{k}")}<inertial><pose>{six(X)}</pose>'
                f"<mass>{mass!r}</mass><inertia><ixx>{ixx!r}</ixx><iyy>{iyy!r}</iyy>"
                f"<izz>{izz!r}</izz></inertia></inertial></link>"
            )
            parts.append(f'<frame name="F{k}" attached_to="L{k}">{pose(f"F{k}")}</frame>')
            if k:
                axes = "".join(axis(k, i) for i in kinds_axes(self.kinds[k]))
                ends = [f"<parent>F{parent}</parent><child>L{k}</child>"]
                ends += [f"<parent>L{k}</parent><child>F{parent}</child>"]
                pitch = "<screw_thread_pitch>0.3</screw_thread_pitch>"
                parts.append(
                    f'<joint name="J{k}" type="{self.kinds[k]}">{ends[k in flipped]}'
                    f"{pose(f'J{k}')}{axes}"
                    f"{pitch if self.kinds[k] == 'screw' else ''}</joint>"
                )
        rng.shuffle(parts)
        base_joint = "<parent>world</parent><child>L0</child>" if flipped else ""
        parts += [f'<joint name="base" type="fixed">{base_joint}</joint>'] if flipped else []
        return f'<sdf version="1.9"><model name="m">{"".join(parts)}</model></sdf>'

    def urdf(self):
        """Each joint moves a link of no mass that the link is fixed to."""
        frames = self.frames()
        text = (
            '<link name="world"/><joint name="W0" type="fixed"><parent link="world"/>'
            f'<child link="L0"/>{origin(self.X_ML[0])}</joint>'
        )
        for k, parent in enumerate(self.parents):
            mass, X, (ixx, iyy, izz) = self.inertias[k]
            text += (
                f'<link name="L{k}"><inertial>{origin(X)}<mass value="{mass!r}"/><inertia '
                f'ixx="{ixx!r}" iyy="{iyy!r}" izz="{izz!r}" ixy="0" ixz="0" iyz="0"/>'
                "</inertial></link>"
            )
            if k:
                X_PJ = np.linalg.inv(frames[f"L{parent}"]) @ frames[f"J{k}"]
                one, two = (f' xyz="{numbers(axis)}"/>' for axis in self.axes[k])
                kind = self.kinds[k]
                extra = f"<axis{one}" if kind not in ("ball", "fixed") else ""
                extra += f"<axis2{two}" if kind == "universal" else ""
                extra += '<screw_thread_pitch value="0.3"/>' if kind == "screw" else ""
                text += (
                    f'<link name="K{k}"/><joint name="J{k}" type="{URDF_WORDS.get(kind, kind)}">'
                    f'<parent link="L{parent}"/><child link="K{k}"/>{origin(X_PJ)}{extra}</joint>'
                    f'<joint name="W{k}" type="fixed"><parent link="K{k}"/><child link="L{k}"/>'
                    f"{origin(np.linalg.inv(self.X_LJ[k]))}</joint>"
                )
        return f'<robot name="m">{text}</robot>'


def matched(one, other, q, v):
    """The state of one robot, for the other."""
    q_other, v_other = other.neutral(), np.zeros(other.nv)
    for name in one.joint_names:
        q_other[other.joints[name].q] = q[one.joints[name].q]
        v_other[other.joints[name].v] = v[one.joints[name].v]
    return q_other, v_other


@pytest.mark.parametrize("flipped", [(), (1, 3, 4, 6), (2, 3, 5)], ids=["", "1346", "235"])
@pytest.mark.parametrize("seed", range(3))
def test_a_tree_of_sdf_is_that_of_urdf(seed, flipped):
    tree = Tree(seed)
    sdf, urdf = rd.load(tree.sdf(flipped=flipped)), rd.load(tree.urdf())
    rng = np.random.default_rng(seed)
    q, v = urdf.random(rng), rng.normal(size=urdf.nv)
    q_sdf, v_sdf = matched(urdf, sdf, q, v)
    order = np.concatenate([np.arange(sdf.nv)[sdf.joints[n].v] for n in urdf.joint_names])
    M = sdf.mass_matrix(q_sdf)[np.ix_(order, order)]
    where = np.concatenate([np.arange(urdf.nv)[urdf.joints[n].v] for n in urdf.joint_names])
    np.testing.assert_allclose(M, urdf.mass_matrix(q)[np.ix_(where, where)], atol=1e-11)
    np.testing.assert_allclose(
        sdf.bias_forces(q_sdf, v_sdf)[order], urdf.bias_forces(q, v)[where], atol=1e-10
    )
    for k in range(len(tree.parents)):
        X = urdf.frame_pose(q, f"L{k}")
        np.testing.assert_allclose(sdf.frame_pose(q_sdf, f"L{k}"), X, atol=1e-12)
        np.testing.assert_allclose(sdf.frame_pose(q_sdf, f"F{k}"), X @ tree.X_LF[k], atol=1e-12)
