#!/usr/bin/env bash
# Newton locks the axes of a generic USD joint that have no limit, which UsdPhysics leaves free.
#
# Versions: newton 1.8.0, warp-lang 1.19.0, usd-core 26.8, on the CPU.
# A PhysicsJoint begins with six free axes, and a PhysicsLimitAPI with low > high locks one of them.
# Here four axes are locked so, and two are not mentioned: a universal joint. USD's own parser lists
# four limits. ModelBuilder.add_usd makes a freedom only of an axis that has a limit with
# low < high, so that the joint has none and the body is held, without a warning. With limits from
# -inf to inf on the two axes it has two.
# Exit status 0: as described here; 1: something changed.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q 'newton[importers]==1.8.0' 'warp-lang==1.19.0' 'usd-core==26.8'
cat >"$folder/look.py" <<'PYTHON'
import sys
import warnings

import newton
from pxr import Usd, UsdPhysics

TEXT = """#usda 1.0
(
    defaultPrim = "arm"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
)
def Xform "arm" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] )
{
    def Xform "base" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] )
    {
        float physics:mass = 1
        float3 physics:diagonalInertia = (0.1, 0.1, 0.1)
    }
    def Xform "link" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] )
    {
        float physics:mass = 1
        point3f physics:centerOfMass = (0, 0, -0.5)
        float3 physics:diagonalInertia = (0.1, 0.1, 0.1)
    }
    def PhysicsFixedJoint "ground"
    {
        rel physics:body1 = </arm/base>
    }
    def PhysicsJoint "universal" ( prepend apiSchemas = [%s] )
    {
        rel physics:body0 = </arm/base>
        rel physics:body1 = </arm/link>
%s
    }
}
"""


def joint(free):
    locked = ["transX", "transY", "transZ", "rotZ"]
    names = locked + free
    lines = [f"float limit:{x}:physics:low = 1\nfloat limit:{x}:physics:high = -1" for x in locked]
    lines += [f"float limit:{x}:physics:low = -inf\nfloat limit:{x}:physics:high = inf" for x in free]
    return TEXT % (", ".join(f'"PhysicsLimitAPI:{x}"' for x in names), "\n".join(lines))


def freedoms(text, path):
    with open(path, "w") as file:
        file.write(text)
    builder = newton.ModelBuilder()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        builder.add_usd(path)
    return builder.joint_dof_count, [str(x.message) for x in told]


plain = freedoms(joint([]), sys.argv[1] + "/plain.usda")
stage = Usd.Stage.Open(sys.argv[1] + "/plain.usda")
found = UsdPhysics.LoadUsdPhysicsFromRange(stage, ["/"])
(_, (parsed,)) = found[UsdPhysics.ObjectType.D6Joint]
print("limits that USD's parser lists:", len(parsed.jointLimits))
print("freedoms in Newton, two axes not mentioned:", *plain)
written = freedoms(joint(["rotX", "rotY"]), sys.argv[1] + "/limits.usda")
print("freedoms in Newton, limits from -inf to inf:", *written)
sys.exit(0 if (len(parsed.jointLimits), plain[0], written[0]) == (4, 0, 2) else 1)
PYTHON
"$folder/venv/bin/python" "$folder/look.py" "$folder" 2>&1 | grep -v "^Module\|^Warp\|CUDA\|Devices\|\"cpu\"\|cache"
# Output seen:
#   limits that USD's parser lists: 4
#   freedoms in Newton, two axes not mentioned: 0 []
#   freedoms in Newton, limits from -inf to inf: 2 []
