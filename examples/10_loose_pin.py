"""An engine whose piston has play on its pin, and knocks from one side of it to the other."""

import sys

import numpy as np

import robodyn as rd

SPEED, PLAY, STROKE, CLEARANCE = 60.0, 0.0003, 0.08, 0.0115  # [rad/s], [m], [m], [m]

ENGINE = f"""<robot name="engine"><link name="block"/>
<link name="crank"/><link name="rod"><inertial><origin xyz="0.075 0 0"/><mass value="0.5"/>
<inertia ixx="0" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
<link name="pin"><inertial><mass value="0.1"/>
<inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>
<link name="piston"><inertial><mass value="0.4"/>
<inertia ixx="3e-4" ixy="0" ixz="0" iyy="3e-4" iyz="0" izz="3e-4"/></inertial></link>
<joint name="drive" type="continuous"><parent link="block"/><child link="crank"/>
<axis xyz="0 1 0"/></joint>
<joint name="big_end" type="continuous"><parent link="crank"/><child link="rod"/>
<origin xyz="0.04 0 0"/><axis xyz="0 1 0"/></joint>
<joint name="slide" type="prismatic"><parent link="block"/><child link="pin"/>
<origin xyz="0.19 0 0"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="0" velocity="0"/></joint>
<joint name="small_end" type="continuous" cut="true"><parent link="rod"/><child link="pin"/>
<origin xyz="0.15 0 0"/><axis xyz="0 1 0"/></joint>
<joint name="play" type="prismatic"><parent link="pin"/><child link="piston"/><axis xyz="1 0 0"/>
<limit lower="{-PLAY}" upper="{PLAY}" effort="0" velocity="0"/></joint></robot>"""

robot = rd.load(ENGINE, gravity=(0, 0, 0))
SLIDE, PIN = robot.joints["slide"].q.start, robot.joints["play"].q.start


def gas(t: float, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """Of a charge that is pressed to an eighth and lets go in every second turn [N]."""
    if not 0.5 <= (t * SPEED / (2 * np.pi)) % 2.0 < 1.5:  # a valve is open
        return {}
    pressed = (STROKE + CLEARANCE) / (CLEARANCE - q[SLIDE] - q[PIN])
    return {"piston": np.array([-100.0 * (pressed**1.3 - 1.0), 0, 0, 0, 0, 0])}


def main(turns: float = 4.0) -> rd.Trajectory:
    return rd.simulate(
        robot,
        duration=turns * 2 * np.pi / SPEED,
        step=1e-4,
        controlled={"drive": lambda t: (SPEED * t, SPEED, 0.0)},
        wrenches=gas,
        stops=rd.RigidStops(restitution=0.4, joints=["play"]),
    )


def check(run: rd.Trajectory) -> None:
    assert np.abs(run.q[:, PIN]).max() < PLAY + 1e-9
    sides = {"play at its lower stop", "play at its upper stop"}
    assert sides < {event.name for event in run.events}
    assert np.abs(run.audit.unexplained).max() < 1e-5 * run.audit.exchanged
    for event in run.events:
        before, after = run.v[run.t == event.time, PIN][[0, -1]]
        assert event.dissipated > -1e-12
        assert abs(after) < 0.4 * abs(before) + 1e-9


def draw(run: rd.Trajectory, path: str) -> None:
    from matplotlib.figure import Figure

    upper, lower = (figure := Figure((8, 5), layout="constrained")).subplots(2, sharex=True)
    upper.plot(run.t, 1e3 * run.q[:, PIN])
    upper.set(ylabel="piston on its pin [mm]", title="the pin knocks at both ends of its play")
    lower.plot(run.t, run.tau[:, 0])
    lower.set(xlabel="time [s]", ylabel="torque at the crank [N m]")
    figure.savefig(path)


if __name__ == "__main__":
    check(run := main())
    print(f"knocks take {sum(event.dissipated for event in run.events):.3g} J")
    if sys.argv[1:]:
        draw(run, sys.argv[1])
