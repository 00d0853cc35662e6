"""Ralston's method of third order: its file."""

FILES = {
    "robodyn/simulation/integrators/ralston.py": '''"""Ralston's method of third order."""

from robodyn.simulation.integrators.runge_kutta import RungeKutta

METHOD = RungeKutta(3, ((), (0.5,), (0.0, 0.75)), (2 / 9, 1 / 3, 4 / 9))
''',
}

LINES = [("robodyn/literals.py", '    "rk4",\n', '    "ralston",\n')]

USE = """
import numpy as np
import robodyn as rd

robot = rd.load("double_pendulum", passive=False)
start = {"q0": [1.0, 0.5], "duration": 0.2}

def end(name, step):
    return rd.simulate(robot, integrator=name, step=step, **start).q[-1]

exact = end("rk4", 1e-4)
coarse, fine = (abs(end("ralston", step) - exact).max() for step in (0.008, 0.004))
assert 7 < coarse / fine < 9, coarse / fine  # 2**3

one = rd.simulate(robot, integrator="ralston", step=0.01, q0=[1.0, 0.5], duration=0.01)
step = rd.step_function(robot, step=0.01, integrator="ralston")
q, v = step(0.0, one.q[0], one.v[0])
assert np.allclose(q, one.q[-1], rtol=0, atol=1e-14)
assert "void step(" in step.c_source("step")
"""
