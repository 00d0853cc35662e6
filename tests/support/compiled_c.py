"""C source as the compiler of the system makes it, loaded and called."""

import ctypes
import shutil
import subprocess

import numpy as np

#: Not a warning, of what a strict compiler warns of.
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1")


def c_library(folder, source, *flags):
    """The library of C source, which is a text or a list of files."""
    compiler = shutil.which("cc")
    assert compiler, "this test needs a C compiler named cc"
    if isinstance(source, str):
        (folder / "f.c").write_text(source)
        source = [folder / "f.c"]
    made = folder / "f.so"
    command = [compiler, *(flags or STRICT), "-shared", "-fPIC", *source, "-o", made, "-lm"]
    subprocess.run([str(x) for x in command], check=True)
    return ctypes.CDLL(str(made))


def pointers(*arrays):
    """Of arrays of numbers, as C takes them."""
    return [np.asarray(x).ctypes.data_as(ctypes.c_void_p) for x in arrays]
