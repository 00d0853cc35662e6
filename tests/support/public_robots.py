"""The robots of example-robot-data and of pybullet, as far as these are installed."""

import hashlib
import importlib.util
from pathlib import Path

EXAMPLES = "cmeel.prefix/share/example-robot-data/robots"
PYBULLET = "pybullet_data"

#: pybullet's thousand random objects are single bodies: every hundredth of them.
EVERY = 100


def folder_of(package, inside):
    spec = importlib.util.find_spec(package)
    origins = [Path(p) for p in (spec.submodule_search_locations or [])] if spec else []
    for origin in origins:
        for parent in (origin, *origin.parents):
            if (parent / inside).is_dir():
                return parent / inside
    return None


def files_below(folder):
    if folder is None:
        return []
    found = sorted(folder.rglob("*.urdf"))
    objects = [path for path in found if "random_urdfs" in path.parts]
    return [path for path in found if path not in set(objects)] + objects[::EVERY]


FOLDERS = {
    "example-robot-data": folder_of("pinocchio", EXAMPLES),
    "pybullet": folder_of("pybullet_data", f"../{PYBULLET}"),
}


def distinct_files():
    """Name below its folder -> path; the same content counts once."""
    seen, files = set(), {}
    for folder in FOLDERS.values():
        for path in files_below(folder):
            digest = hashlib.sha256(path.read_bytes()).digest()
            if digest not in seen:
                seen.add(digest)
                files[str(path.relative_to(folder))] = path
    return files


FILES = distinct_files()
