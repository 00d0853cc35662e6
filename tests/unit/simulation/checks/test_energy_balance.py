"""The energy of samples and the work between them."""

import numpy as np
import pytest

from robodyn.simulation.checks.energy_check import balanced

STEPS, MOTIONS, SPEEDS = 40, 3, 5


@pytest.fixture
def samples():
    """Times, speeds, forces, power of dampers, and energies that are what work makes of them."""
    random = np.random.default_rng(0)
    t = np.cumsum(random.uniform(0.5, 1.5, STEPS))
    v, tau = random.normal(size=(2, STEPS, MOTIONS, SPEEDS))
    power = -random.uniform(size=(STEPS, MOTIONS))
    h = 0.5 * np.diff(t)[:, None]
    work = h * ((v[1:] + v[:-1]) * tau[:-1]).sum(axis=-1) + h * (power[1:] + power[:-1])
    energy = np.concatenate([np.ones((1, MOTIONS)), 1.0 + np.cumsum(work, axis=0)])
    kinetic = random.uniform(size=energy.shape)
    return t, v, tau, power, kinetic, energy - kinetic


def explained(samples, allowed=1e-12, several=False, at_rest=0.0):
    t, v, tau, power, *energies = samples
    return balanced(t, v, tau, *energies, power, allowed, 0.0, at_rest, several=several)


def test_work_explains_energy(samples):
    assert explained(samples)
    *others, kinetic, potential = samples
    assert explained((*others, potential, kinetic))


@pytest.mark.parametrize("what", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("change", [0.1, np.nan])
def test_what_is_not_explained_is_found(samples, what, change):
    samples[what][7, 1] += change
    assert not explained(samples, 1e-4)


def test_power_that_is_left_out_is_missed(samples):
    t, v, tau, power, *energies = samples
    assert not explained((t, v, tau, 0.0 * power, *energies), 1e-3)


def test_what_may_be_missing_is_part_of_what_is_exchanged(samples):
    *_, kinetic, potential = samples
    work = np.abs(np.diff(kinetic + potential, axis=0)).sum(axis=0)
    exchanged = np.maximum(work, np.maximum(np.ptp(kinetic, axis=0), np.ptp(potential, axis=0)))
    potential[-1, 2] += 0.01 * exchanged[2]
    assert explained(samples, 0.011)
    assert not explained(samples, 0.009)
    assert explained(samples, 0.0, at_rest=0.011 * exchanged[2])
    assert not explained(samples, 0.0, at_rest=0.009 * exchanged[2])


def test_work_is_not_known_from_samples_several_steps_apart(samples):
    assert not explained(samples, 0.1, several=True)
    t, v, tau, power, *energies = samples
    at_rest = t, v, 0.0 * tau, 0.0 * power, *(0.0 * x for x in energies)
    assert explained(at_rest, 0.1, several=True)
