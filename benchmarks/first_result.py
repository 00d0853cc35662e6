"""CPU seconds of fresh processes up to their first result, as a Markdown table.

Cold: nothing is in the cache, and code comes in two tiers; background: what the process that makes
the full code takes beside it; eager: nothing is in the cache, the full code is waited for; warm:
the same has run before; precompiled: `robodyn compile` has filled the cache of another folder. Each
is the best of several processes, in turns, so that what else the machine does hits all of them.
Seconds of the interpreter and numpy are in all but the background's, and in a row of their own.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LOAD = "import numpy as np\nimport robodyn as rd\nrobot = rd.load({source!r}, base={base!r})\n"
STATE = "q, v = robot.neutral(), np.zeros(robot.nv)\n"

#: What a process does -> its program.
PROGRAMS = {
    "inverse dynamics": LOAD + STATE + "robot.inverse_dynamics(q, v, v)",
    "forward dynamics": LOAD + STATE + "robot.forward_dynamics(q, v, v)",
    "their derivatives": LOAD + STATE + "robot.function('forward_dynamics').jacobian('q')(q, v, v)",
    "a motion": LOAD + "rd.simulate(robot, duration=0.1)",
}

#: Robots of example-robot-data, which comes with Pinocchio: file and base.
OTHERS = {
    "panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "talos": ("talos_data/robots/talos_full_v2.urdf", "floating"),
}


def sources() -> dict[str, tuple[str, str]]:
    """Name of each robot -> what `robodyn.load` takes, and the base."""
    found = {name: (name, "fixed") for name in ("puma560", "four_bar", "stewart")}
    spec = importlib.util.find_spec("pinocchio")
    if spec is not None and spec.origin is not None:
        for parent in Path(spec.origin).parents:
            robots = parent / "cmeel.prefix/share/example-robot-data/robots"
            if robots.is_dir():
                found |= {name: (str(robots / file), base) for name, (file, base) in OTHERS.items()}
                break
    return found


#: Wait for the full code.
FINISH = "\nrd.compiled(wait=True)\n"


def seconds(arguments: list[str], **environment: str) -> float:
    """CPU seconds of a process and of those that it has waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    given = {**os.environ, **environment}
    given.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as pip does it
    subprocess.run([sys.executable, *arguments], check=True, env=given, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(program: str, warm: str, compiled: str) -> list[float]:
    """Seconds of each kind; two folders are caches."""
    cold = seconds(["-c", program], ROBODYN_CACHE="0")
    both = seconds(["-c", program + FINISH], ROBODYN_CACHE="0")
    eager = seconds(["-c", program], ROBODYN_CACHE="0", ROBODYN_COMPILATION="eager")
    found = [seconds(["-c", program], ROBODYN_CACHE_DIR=folder) for folder in (warm, compiled)]
    return [cold, both - cold, eager, *found]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=sorted(sources()), default=sorted(sources()))
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    for name, program in {"numpy": "import numpy", "robodyn": "import robodyn"}.items():
        best = min(seconds(["-c", program]) for _ in range(given.rounds))
        print(f"import {name}: {best:.2f} s of CPU time")
    print("\n| robot | first result | cold | background | eager | warm | precompiled |")
    print("|---|---|---|---|---|---|---|")
    for name in given.robots:
        source, base = sources()[name]
        with tempfile.TemporaryDirectory() as compiled, tempfile.TemporaryDirectory() as warm:
            compile_it = ["-m", "robodyn", "compile", source, "--base", base]
            seconds(compile_it, ROBODYN_CACHE_DIR=compiled)
            for what, text in PROGRAMS.items():
                program = text.format(source=source, base=base)
                seconds(["-c", program], ROBODYN_CACHE_DIR=warm, ROBODYN_COMPILATION="eager")
                times = [row(program, warm, compiled) for _ in range(given.rounds)]
                best = " | ".join(f"{min(column):.2f}" for column in zip(*times, strict=True))
                print(f"| {name} | {what} | {best} |", flush=True)


if __name__ == "__main__":
    main()
