"""Scripts by which shells complete commands."""

import shutil
import subprocess
import sys

import pytest

from robodyn.cli import main


@pytest.fixture
def bash(tmp_path, capsys):
    """Completions of a line that bash offers in a folder with one file."""
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    (tmp_path / "arm.urdf").touch()

    def complete(line):
        words = line.split(" ")
        code = (
            f"source ./script; COMP_WORDS=({' '.join(map(repr, words))}); "
            f"COMP_CWORD={len(words) - 1}; _shtab_robodyn; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        done = subprocess.run(
            ["bash", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    return complete


def test_bash(bash):
    assert bash("robodyn ch") == ["check"]
    assert {"new", "sim", "doctor", "bench"} <= set(bash("robodyn "))
    assert bash("robodyn info pum") == ["puma560"]
    assert bash("robodyn info ar") == ["arm7", "arm.urdf"]
    assert bash("robodyn sim four_bar --controller comp") == ["computed-torque"]
    assert bash("robodyn sim four_bar --integrator rk") == ["rk4"]
    assert bash("robodyn new f") == ["four_bar"]
    assert "--near" in bash("robodyn check --")


def test_every_shell_knows_commands_and_robots(capsys):
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        text = capsys.readouterr().out
        assert all(name in text for name in ("doctor", "puma560", "computed-torque"))


def test_without_shtab(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "completion by the shell needs shtab: pip install" in capsys.readouterr().err
