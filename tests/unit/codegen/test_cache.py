"""Compiled code on disk: what is part of its key, which files are trusted, and which go."""

import ast
import contextlib
import hashlib
import logging
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from support.processes import python

import robodyn as rd
from robodyn.codegen.llvm.cache import object_code as cache, object_files
from robodyn.codegen.llvm.cache.object_code import generator_digest, generator_modules
from robodyn.codegen.vectorcall import vectorcall_type

ROOT = Path(rd.__file__).parent
GENERATORS = (
    "robodyn.codegen.llvm.kernels.kernel_ir",
    "robodyn.codegen.llvm.batches.thread_pool",
    "robodyn.codegen.vectorcall.entry_ir",
)
needs_users = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner here")


@pytest.fixture
def where(tmp_path, monkeypatch):
    """An empty folder that compiled code is kept in."""
    monkeypatch.setenv("ROBODYN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(object_files, "_refused", set())
    return tmp_path / "robodyn"


def hashed(name):
    """The key of something with a name."""
    return hashlib.sha256(name.encode()).hexdigest()


def compiled(name, make):
    """Object code of a key: from disk, or made and kept."""
    key = hashed(name)
    code = cache.cached(key)
    if code is None:
        code = make()
        cache.store(key, code)
    return code


def store(key="key", code=b"x" * 1000):
    return compiled(key, lambda: code)


def made_anew(key="key", timeout=60.0):
    """Whether the code of a key is compiled although there is a file."""
    begin, made = time.perf_counter(), []
    assert compiled(key, lambda: made.append(1) or b"new") in (b"new", b"x" * 1000)
    assert time.perf_counter() - begin < timeout
    return bool(made)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, OSError])
def test_writing_that_is_interrupted_leaves_no_file(where, monkeypatch, interruption):
    def interrupted(*_):
        raise interruption

    monkeypatch.setattr(os, "replace", interrupted)
    with contextlib.suppress(KeyboardInterrupt):
        store()
    assert list(where.iterdir()) == []


# -- keys ---------------------------------------------------------------------------------------


def path_of(module):
    path = ROOT.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@pytest.mark.parametrize("generator", GENERATORS)
def test_all_that_a_generator_imports_is_part_of_the_key(generator):
    """The same modules as a walk over the syntax trees finds."""
    found, waiting = set(), [generator]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for node in ast.walk(ast.parse(path_of(name).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("robodyn."):
                waiting.append(node.module)
                full = [f"{node.module}.{alias.name}" for alias in node.names]
                waiting += [module for module in full if path_of(module).is_file()]
    assert set(generator_modules(generator)) == found


def test_the_source_of_each_module_changes_the_key(monkeypatch):
    generator = "robodyn.codegen.vectorcall.entry_ir"
    original, changed = cache._source, [""]

    def source(spec):
        return original(spec) + ("\n# changed\n" if [spec.name] == changed else "")

    monkeypatch.setattr(cache, "_source", source)

    def digest():
        monkeypatch.setattr(cache, "_digests", cache.Memo())
        return generator_digest(generator)

    digests = {digest()}
    for name in generator_modules(generator):
        changed[0] = name
        digests.add(digest())
    assert len(digests) == len(generator_modules(generator)) + 1


@pytest.mark.parametrize("which", [0, 1])
def test_versions_change_the_key(monkeypatch, which):
    before = cache.generator_key(GENERATORS[0], "x")
    assert before != cache.generator_key(GENERATORS[0], "y")
    versions = list(cache._versions())
    versions[which] += ".post1"
    monkeypatch.setattr(cache, "_versions", lambda: tuple(versions))
    assert before != cache.generator_key(GENERATORS[0], "x")


# -- trust --------------------------------------------------------------------------------------


def test_a_tilde_is_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("ROBODYN_CACHE_DIR", "~/code_of_this_test")
    assert cache.folder() == tmp_path / "code_of_this_test" / "robodyn"


def test_a_relative_folder_stays_where_it_was(tmp_path, monkeypatch):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("ROBODYN_CACHE_DIR", "code_of_the_relative_folder")
    monkeypatch.chdir(tmp_path / "one")
    first = cache.folder()
    monkeypatch.chdir(tmp_path / "other")
    expected = tmp_path / "one" / "code_of_the_relative_folder" / "robodyn"
    assert cache.folder() == first == expected


def test_kept_code_is_found_again(where):
    store()
    (file,) = where.glob("*.o")
    assert not made_anew()
    assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE(where.stat().st_mode) & 0o077 == 0


@pytest.fixture
def of_another(monkeypatch):
    """Makes a file or folder that of another user, who is not root."""

    def given_away(path):
        if os.geteuid() == 0:
            os.chown(path, 12345, -1)
        else:
            another = os.geteuid() + 1
            monkeypatch.setattr(os, "geteuid", lambda: another)

    return given_away


@needs_users
def test_files_of_other_users_are_refused(where, monkeypatch, of_another):
    store()
    of_another(next(where.glob("*.o")))
    monkeypatch.setattr(object_files, "_trusted_folder", lambda folder: True)
    assert made_anew()


@needs_users
def test_folders_of_other_users_are_refused_and_named(where, of_another, caplog):
    store()
    of_another(where)
    with caplog.at_level(logging.WARNING):
        assert made_anew() and made_anew()
    assert [str(where) in record.getMessage() for record in caplog.records] == [True]


@needs_users
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="takes root to make")
def test_what_root_has_kept_in_an_image_is_read_by_others(tmp_path):
    """As a Dockerfile makes it: filled by root, then opened for reading."""
    shown = Path(tempfile.mkdtemp(prefix="robodyn-test-", dir="/tmp"))
    try:
        code = (
            "import os, sys\n"
            "from robodyn.codegen.llvm.cache import object_code as cache\n"
            "os.setuid(int(sys.argv[1]))\n"
            "cache.store('a' * 64, b'code' * 100) if sys.argv[1] == '0' else None\n"
            "assert cache.cached('a' * 64) == b'code' * 100\n"
        )
        environment = {"ROBODYN_CACHE_DIR": str(shown)}
        for user in ("0", "12345"):
            python("-c", code, user, env=environment)
            for path in (shown, *shown.rglob("*")):
                path.chmod(0o555 if path.is_dir() else 0o444)
    finally:
        shutil.rmtree(shown)


@needs_users
@pytest.mark.parametrize("bit", [stat.S_IWGRP, stat.S_IWOTH])
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_others_can_write_is_refused(where, what, bit):
    store()
    path = where if what == "folder" else next(where.glob("*.o"))
    mode = stat.S_IMODE(path.stat().st_mode)
    path.chmod(mode | bit)
    assert made_anew()
    path.chmod(mode)
    assert not made_anew()


def replaced(where, how):
    """Put something else in the place of the kept file."""
    (file,) = where.glob("*.o")
    code = file.read_bytes()
    file.unlink()
    if how == "fifo":
        os.mkfifo(file, 0o600)
    elif how == "link":
        other = where.parent / "elsewhere"
        other.write_bytes(code)
        file.symlink_to(other)
    elif how == "folder":
        file.mkdir()
    elif how == "empty":
        file.touch()
    elif how == "garbage":
        file.write_bytes(os.urandom(5000))
    elif how == "truncated":
        file.write_bytes(code[:-10])
    elif how == "of another key":
        object_files.write(where, hashed("other"), b"x" * 1000)
        (where / f"{hashed('other')}.o").rename(file)
    else:  # a hole of a terabyte, which would fill the memory
        file.write_bytes(code)
        os.truncate(file, 1 << 40)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(
    "how",
    ["fifo", "link", "folder", "empty", "garbage", "truncated", "of another key", "oversized"],
)
def test_what_is_no_file_of_ours_is_compiled_anew(where, how):
    store()
    replaced(where, how)
    assert made_anew()
    if how != "folder":
        assert not made_anew()  # the new code took its place


# -- size ---------------------------------------------------------------------------------------


def test_files_that_were_used_longest_ago_go_first(where):
    now, keys = time.time(), [hashed(f"{k}") for k in range(6)]
    for k, key in enumerate(keys):
        object_files.write(where, key, b"x" * 1000)
        os.utime(where / f"{key}.o", (now - 100 + k, now - 100 + k))
    assert object_files.read(where, keys[0]) is not None  # used now
    size = (where / f"{keys[0]}.o").stat().st_size
    object_files.sweep(where, 3 * size)
    kept = {path.stem for path in where.glob("*.o")}
    assert kept == {keys[0], keys[4], keys[5]}


def test_what_a_process_left_unfinished_is_swept(where):
    where.mkdir(0o700)
    old, new = (where / f"robodyn-{k * 16}.unfinished" for k in "01")
    for path in (old, new):
        path.write_bytes(b"x")
    os.utime(old, (0, 0))
    cache._written = 0
    store()
    assert new.exists() and not old.exists()


def test_files_of_others_stay_as_they_are(where, monkeypatch):
    """Whatever folder is named, and whatever somebody keeps in the folder below it."""
    others = {
        "thesis/tmp_measurements.csv": b"the only copy", "tmpl_letter.tex": b"x", "tmp": b"x",
        "swept": b"x", "robodyn/main.o": bytes(9000), "robodyn/tmpdata": b"x",
        "robodyn/swept": b"x", "robodyn/build/other.o": bytes(9000), "robodyn/ab/tmpold": b"x",
        f"robodyn/{hashed('somebody')}.o": bytes(9000),
    }  # fmt: skip
    for name, data in others.items():
        (where.parent / name).parent.mkdir(0o700, parents=True, exist_ok=True)
        (where.parent / name).write_bytes(data)
        os.utime(where.parent / name, (1000, 1000))
    (where / f"{hashed('linked')}.o").symlink_to(where / "main.o")
    where.chmod(0o700)
    monkeypatch.setenv("ROBODYN_CACHE_MB", "0.001")
    for k in range(3):
        cache._written = 64
        store(f"key{k}")
    for name, data in others.items():
        assert (where.parent / name).read_bytes() == data
        assert (where.parent / name).stat().st_mtime == 1000
    assert (where / f"{hashed('linked')}.o").is_symlink()
    assert not (where / f"{hashed('key0')}.o").exists()


def test_the_limit_can_be_chosen(where, monkeypatch):
    monkeypatch.setenv("ROBODYN_CACHE_MB", "0.002")
    for k in range(4):
        cache._written = 64
        store(f"key{k}")
    assert len(list(where.glob("*.o"))) == 2
    monkeypatch.setenv("ROBODYN_CACHE_MB", "much")
    assert cache._limit() == cache.LIMIT


def test_code_that_is_too_large_is_not_kept(where, monkeypatch):
    monkeypatch.setattr(object_files, "LARGEST", 500)
    store()
    assert not where.exists() or not list(where.iterdir())


def test_what_goes_wrong_with_the_entry_is_logged(monkeypatch, caplog):
    def broken(offset):
        raise RuntimeError("no entry today")

    monkeypatch.setattr(vectorcall_type, "_code", broken)
    with caplog.at_level(logging.WARNING):
        assert (
            vectorcall_type.vectorcall_type(rd.codegen.Function, rd.codegen.Function.__call__)
            is None
        )
    assert "no entry today" in caplog.text
    f = rd.load("double_pendulum").function("mass_matrix")
    assert f(np.zeros(2)).shape == (2, 2)
