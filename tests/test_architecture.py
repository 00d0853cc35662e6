"""Imports go down only."""

import ast
import functools
import inspect
from pathlib import Path

from robodyn import errors
from robodyn.joints import KINDS

ROOT = Path(__file__).parents[1]

#: Layers, from the lowest up. What stands in one imports from layers below it only.
#: A part is a folder of robodyn with the folders in it, or a module of its own.
LAYERS = (
    {"quick_dataclass", "registry"},
    {"array_types", "caller", "installation", "literals", "progress", "tolerances", "version"},
    {"errors"},
    {"arrays"},
    {"arguments", "other_names"},
    {"files", "html_tables"},
    {"pictures"},
    {"state_space"},
    {"symbolic", "results"},
    {"motion"},
    {"force_elements", "joints"},
    {"codegen"},
    {"description"},
    {"topology", "interop"},
    {"equations", "urdf"},
    {"model"},
    {"evaluator", "shapes"},
    {"parts"},
    {"closed_loops"},
    {"minimal"},
    {"impacts", "inverse_kinematics", "linearization"},
    {"tasks"},
    {"composition"},
    {"robot"},
    {"bags"},
    {"loading", "simulation"},
    {"exporting", "identification", "studies"},
    {""},  # the public names
    {"controllers"},
    {"ros"},
    {"view"},
    {"cli"},
    {"__main__"},
)
LAYER = {part: layer for layer, parts in enumerate(LAYERS) for part in parts}

#: Imported when first used, not with the package.
LATE = {
    "numba", "scipy", "matplotlib", "rclpy", "xacro", "yaml", "pinocchio", "cupy", "rosbags",
    "cyclonedds", "viser", "trimesh", "dask", "distributed", "cloudpickle", "pandas", "xarray",
    "control", "toppra", "ruckig", "mujoco", "jax", "torch", "imageio", "av", "PIL", "shtab",
}  # fmt: skip
#: Modules that are imported when used, as a whole.
LATE_MODULES = {"robodyn.ros.dds.types", "robodyn.interop.jax", "robodyn.interop.torch"}


#: Stands in a source tree for the folder ``controllers``, and has no names of its own.
STAND_IN = ROOT / "robodyn" / "controllers" / "__init__.py"


@functools.cache
def files():
    return [
        path
        for top in ("robodyn", "controllers")
        for path in sorted((ROOT / top).rglob("*.py"))
        if path != STAND_IN
    ]


def module_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "robodyn" else ("robodyn", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def tree_of(path):
    """What a file says, with imports relative to the controllers made absolute."""
    tree = ast.parse(path.read_text())
    within = path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            assert within[0] == "controllers", "imports are absolute"
            node.module = ".".join(("robodyn", *within[: -node.level], node.module))
            node.level = 0
        elif isinstance(node, ast.ImportFrom) and within[0] == "controllers":
            # type checkers know the folder by this name only, in a source tree
            assert not node.module.startswith("robodyn.controllers"), "an import is relative there"
    return tree


@functools.cache
def nodes_of(path):
    """All nodes of the tree of a file: walking through it takes longer than reading it."""
    return tuple(ast.walk(tree_of(path)))


def part(module):
    """The part of a module, or of a name in it; ``""`` for public names of the package."""
    name = module.split(".")[1] if "." in module else ""
    return name if name in LAYER else ""


def folder(module):
    """The folder that a module lies in, or the module itself where that is the package's own."""
    parts = module.split(".")
    return ".".join(parts if len(parts) <= 2 or module in PACKAGES else parts[:-1])


def imported(nodes):
    """Modules that are imported, and public names of robodyn as ``robodyn.name``."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES or node.module == "robodyn" else node.module


def faults(of_file):
    """All that a generator says of files, with their names."""
    return [f"{path.relative_to(ROOT)}: {fault}" for path in files() for fault in of_file(path)]


MODULES = {module_of(path) for path in files()}
PACKAGES = {module_of(path) for path in files() if path.name == "__init__.py"}


def test_imports_go_down():
    def upward(path):
        here = part(module_of(path))
        for module in imported(nodes_of(path)) if here else ():
            there = part(module)
            if module.split(".")[0] == "robodyn" and here != there:
                if LAYER[there] >= LAYER[here]:
                    yield f"imports {module}"

    assert not faults(upward)


def test_every_part_has_a_layer():
    for path in files():
        module = module_of(path)
        assert module == "robodyn" or part(module), f"{module} stands in no layer"
    names = {part(module_of(path)) for path in files()}
    assert names == set(LAYER), "a layer names a part that is not there"


def test_no_circle_of_folders():
    """Folders, those within folders too, do not import one another in a circle."""
    arrows = {}
    for path in files():
        here = folder(module_of(path))
        for module in imported(nodes_of(path)):
            there = folder(module) if module in MODULES else "robodyn"
            if module.startswith("robodyn.") and there not in (here, "robodyn"):
                arrows.setdefault(here, set()).add(there)
    arrows.pop("robodyn", None)  # the public names
    while free := [x for x in arrows if not arrows[x] & set(arrows)]:
        for x in free:
            del arrows[x]
    assert not arrows


def test_no_circle_of_modules():
    """Also not for the sake of type checkers, or within functions."""
    arrows = {}
    for path in files():
        if path.name != "__init__.py":  # a package's names
            here, nodes = module_of(path), nodes_of(path)
            arrows[here] = {m for m in imported(nodes) if m in MODULES - PACKAGES - {here}}
    while free := [x for x in arrows if not arrows[x] & set(arrows)]:
        for x in free:
            del arrows[x]
    assert not arrows


def test_heavy_packages_are_imported_when_used():
    def early(path):
        if module_of(path) in LATE_MODULES:
            return
        for node in tree_of(path).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for module in imported([node]):
                    if module.split(".")[0] in LATE:
                        yield f"line {node.lineno}: {module}"

    assert not faults(early)


def test_no_other_way_to_warn_is_used():
    """`robodyn.caller.warn` finds the line; a level of the stack counts frames that change."""

    def warns(path):
        for node in nodes_of(path) if path.name != "caller.py" else ():
            if isinstance(node, ast.Attribute) and node.attr in ("warn", "warn_explicit"):
                if isinstance(node.value, ast.Name) and node.value.id == "warnings":
                    yield f"line {node.lineno}"

    assert not faults(warns)


def test_only_its_own_file_names_a_kind_of_joint():
    """Others ask the kind, or take its constant from `robodyn.joints`."""
    names = set(KINDS)
    # also choices of a base, parts of an element, and a field
    unmistakable = names - {"fixed", "floating", "distance", "map"}

    def named(path):
        if part(module_of(path)) == "joints":
            return
        for node in nodes_of(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if node.value in unmistakable:
                    yield f"line {node.lineno}: {node.value!r}"
            elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute):
                texts = {x.value for x in ast.walk(node) if isinstance(x, ast.Constant)}
                if node.left.attr in ("kind", "type") and texts & names:
                    yield f"line {node.lineno}: {texts & names}"
            elif isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant):
                if node.arg == "kind" and node.value.value in names:
                    yield f"line {node.lineno}: {node.value.value!r}"

    assert not faults(named)


#: Numbers as small as tolerances that are none: coefficients of series, steps of difference
#: quotients, damping of iterations, and instants at which something is looked at.
NO_TOLERANCES = {
    "COS", "DIFFERENCE", "FIRST_DAMPING", "HALF_PI", "LEAST", "LEAST_DAMPING", "LOOKS",
    "MIN_DAMPING", "OF_LOOPS", "SIN", "SOON",
}  # fmt: skip


def test_tolerances_stand_in_one_file():
    """Small numbers at the top of modules are in `robodyn.tolerances`, with their reasons."""

    def elsewhere(path):
        if module_of(path) == "robodyn.tolerances":
            return
        for node in tree_of(path).body:
            if isinstance(node, ast.Assign):
                names = {x.id for x in ast.walk(node.targets[0]) if isinstance(x, ast.Name)}
                numbers = [x.value for x in ast.walk(node.value) if isinstance(x, ast.Constant)]
                small = [x for x in numbers if isinstance(x, float) and 0.0 < x <= 1e-6]
                if small and not names & NO_TOLERANCES:
                    yield f"line {node.lineno}: {names}"

    assert not faults(elsewhere)


def test_errors_are_raised_with_attributes_that_they_have():
    kinds = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}

    def unknown(path):
        for node in nodes_of(path):
            if isinstance(node, ast.Call):
                kind = kinds.get(ast.unparse(node.func).rpartition(".")[2])
                for given in node.keywords if kind and issubclass(kind, BaseException) else ():
                    named = {*dir(kind), *inspect.signature(kind).parameters, None}
                    if given.arg not in named:
                        yield f"line {node.lineno}: {given.arg}"

    assert not faults(unknown)


#: Parts of other packages that have no public name.
FOREIGN = {"sys._getframe", "os._exit", "np._core", "np._core.multiarray._ARRAY_API",
           "etree._Element", "substitution._eval_dict"}  # fmt: skip


def own_private_names(nodes):
    """Private attributes that the classes of a file define."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.ClassDef):
            yield from (x.id for x in ast.walk(node) if isinstance(x, ast.Name))


def test_private_names_stay_in_their_files():
    """Only the file whose classes define an attribute ``_name`` reads it; nobody imports one."""

    def foreign(path):
        nodes = nodes_of(path)
        own = {*own_private_names(nodes), "_replace", "_asdict", "_fields", "_make"}
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                if node.attr not in own and not node.attr.endswith("__"):
                    where = ast.unparse(node)
                    if where not in FOREIGN:
                        yield f"line {node.lineno}: {where}"
            elif isinstance(node, ast.ImportFrom):
                names = {x.name for x in node.names if x.name.startswith("_")} - {"__version__"}
                if names:
                    yield f"line {node.lineno}: {names}"

    assert not faults(foreign)


#: Where LLVM IR is written.
OF_MACHINE_CODE = ("robodyn.codegen.", "robodyn.simulation.step.machine_code.")


def test_ir_is_written_in_two_rooms_only():
    """Others call programs by their addresses, or by what Python calls of them."""

    def written(path):
        if not module_of(path).startswith(OF_MACHINE_CODE):
            for module in imported(nodes_of(path)):
                if module.startswith(("robodyn.codegen.llvm.builder", "llvmlite")):
                    yield f"imports {module}"

    assert not faults(written)
