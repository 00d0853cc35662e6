"""From the text of an MJCF to MuJoCo's compiled model, which has its final names and numbers.

Includes, defaults, nested frames, units, and inertias that follow from shapes are MuJoCo's matter.
Files that a document names are looked at before MuJoCo opens them.
"""

from __future__ import annotations

import html
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from robodyn.errors import MissingExtraError, UrdfError
from robodyn.urdf.common.xml import decode_leniently, read_bytes
from robodyn.urdf.mjcf.model import CompiledModel

#: Attributes that name files and folders.
_NAMES_FILE = re.compile(r"\b(file\w*|\w+dir)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")

#: Elements that hold the names of other documents.
_DOCUMENT = re.compile(r"<(include|model)\b[^>]*$")


def check_files(text: str, file: str | None) -> None:
    """Refuse a document that names pipes or devices, which MuJoCo would wait for or read on and on.

    The `UrdfError` has the line of the name.

    file: Where it stands; names are relative to its folder, or to the working directory.
    """
    base = Path(file).parent if file else Path()
    pending, seen = [(text, file)], set[Path]()
    while pending:
        text, source = pending.pop()
        folders = [base, Path(source).parent] if source else [base]
        names = [*_named_files(text)]
        folders += [folder / name for folder in folders for what, name, _ in names if what == "dir"]
        for what, name, start in names:
            for path in {folder / x for folder in folders for x in (name, Path(name).name)}:
                if what == "dir" or path in seen or not path.exists() or path.is_dir():
                    continue
                seen.add(path)
                if not path.is_file():
                    raise UrdfError(
                        f"names {str(path)!r}, a pipe or a device, which may never end: put a file "
                        "in its place",
                        file=source,
                        line=text.count("\n", 0, start) + 1,
                    )
                if what == "document":
                    pending.append((decode_leniently(read_bytes(path), str(path))[0], str(path)))


def _named_files(text: str) -> Iterator[tuple[str, str, int]]:
    """Kinds (``"dir"``, ``"document"``, ``"file"``) of names, names, and where they stand."""
    for found in _NAMES_FILE.finditer(text):
        name = html.unescape(found[2] or found[3] or "")
        kind = "dir" if found[1].endswith("dir") else "file"
        if kind == "file" and _DOCUMENT.search(text, max(0, found.start() - 1000), found.start()):
            kind = "document"
        if name and "\0" not in name:
            yield kind, name, found.start()


_LINE = re.compile(r"\bline (\d+)")

#: What MuJoCo says of files that it cannot open or decode.
_FILE = re.compile("opening file|resource|decode", re.IGNORECASE)

#: Lists of a model of which nothing moves a body; files that they name may be missing.
_SEEN = ("textures", "materials", "skins", "cameras", "lights", "sensors")

#: Vertices of what stands for a mesh whose file is not needed.
_TETRAHEDRON = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def compiled_model(text: str, file: str | None) -> tuple[CompiledModel, list[str]]:
    """The model that MuJoCo makes of a document, and its warnings.

    Files of meshes that are missing are no error where the bodies that have these shapes say their
    inertias themselves.

    Raises `UrdfError` with MuJoCo's message if it can make no model of it, or if it names pipes or
    devices, and `MissingExtraError` if MuJoCo is not installed.
    """
    mujoco = _mujoco(file)
    check_files(text, file)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model, unknown = _compiled(mujoco, text, file)
    texts = (" ".join(str(x.message).split()) for x in caught if x.category is UserWarning)
    notes = [f"MuJoCo: {text}" for text in dict.fromkeys(texts)]
    notes += [
        f"the mass of {body}, which stands still, is taken as zero: a file of its shapes is missing"
        for body in unknown
    ]
    return CompiledModel(mujoco, model), notes


def _compiled(mujoco: Any, text: str, file: str | None) -> tuple[Any, list[str]]:
    """The model, and bodies that stand still whose mass is not known."""
    shapes: _Shapes | None = None
    try:
        try:
            return _parsed(mujoco, text, file).compile(), []
        except ValueError as error:
            if not _FILE.search(str(error)):
                raise
            spec = _parsed(mujoco, text, file)
            shapes = _Shapes(mujoco, spec)
            return spec.compile(), shapes.unknown
    except ValueError as error:
        raise _error(text, file, error, {} if shapes is None else shapes.needed) from None


def _mujoco(file: str | None) -> Any:
    try:
        import mujoco
    except ImportError as error:
        name = "MJCF" if file is None else Path(file).name
        raise MissingExtraError("mujoco", "mjcf", f"reading {name}") from error
    return mujoco


def _parsed(mujoco: Any, text: str, file: str | None) -> Any:
    """The model as it is written (`mujoco.MjSpec`)."""
    if file is None:
        return mujoco.MjSpec.from_string(text)
    return mujoco.MjSpec.from_file(file)


class _Shapes:
    """Takes away what is only seen, and files of shapes that say nothing of masses that move.

    Such shapes become spheres without mass: to delete one takes MuJoCo half a millisecond.

    ``needed`` has the bodies whose masses follow from meshes that stay, by the names of the files
    of these; ``unknown`` the bodies that stand still and whose masses are not known any more.
    """

    def __init__(self, mujoco: Any, spec: Any) -> None:
        always = int(mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE)
        self._explicit = int(spec.compiler.inertiafromgeom) != always
        files = {item.name: item.file for item in (*spec.meshes, *spec.hfields)}
        kept: dict[str, str] = {}
        self.unknown: list[str] = []
        for geom in list(spec.geoms):
            shape = geom.meshname or geom.hfieldname
            geom.material = ""
            if shape and (self._mass_is_explicit(geom) or self._is_fixed(geom.parent)):
                geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, (1.0, 0.0, 0.0)
                geom.meshname = geom.hfieldname = ""
                geom.mass = 0.0
            elif shape:
                kept[shape] = _described(geom.parent)
        self.unknown = list(dict.fromkeys(self.unknown))
        for item in (*spec.sites, *spec.tendons):
            item.material = ""
        for mesh in spec.meshes:
            if mesh.file and mesh.name not in kept:
                mesh.file, mesh.uservert = "", _TETRAHEDRON
        unused = [x for x in spec.hfields if x.name not in kept]
        for item in (*(x for what in _SEEN for x in list(getattr(spec, what, ()))), *unused):
            spec.delete(item)
        self.needed = {files.get(name, name): body for name, body in kept.items()}

    def _mass_is_explicit(self, geom: Any) -> bool:
        """The mass of its body does not follow from a shape."""
        said = self._explicit and bool(geom.parent.explicitinertial)
        return said or geom.parent.name == "world" or geom.mass == 0.0 or geom.density == 0.0

    def _is_fixed(self, body: Any) -> bool:
        """No joint moves a body, so that its mass counts for nothing where the base is fixed."""
        described = _described(body)
        while body.name != "world":
            if len(body.joints):
                return False
            body = body.parent
        self.unknown.append(described)
        return True


def _described(body: Any) -> str:
    return f"body {body.name!r}" if body.name else "a body without a name"


def _error(text: str, file: str | None, error: Exception, needed: Mapping[str, str]) -> UrdfError:
    """MuJoCo's message; the line is that of the file where it has no includes."""
    message = " ".join(str(error).split())
    line = _LINE.search(message)
    advice = "".join(
        f"; the mass of {body}, which has no <inertial>, follows from this file: put it "
        "where the model says, or give the body an <inertial>"
        for mesh, body in needed.items()
        if mesh and mesh in message
    )
    return UrdfError(
        f"MuJoCo cannot read it: {message}{advice}",
        file=file,
        line=int(line[1]) if line and "<include" not in text else None,
    )
