"""Robots pickled by an earlier robodyn, when its modules lay elsewhere, load as they were."""

import base64
import pickle
import zlib

import numpy as np
import pytest

import robodyn as rd
from robodyn.model.settings import Settings

#: The bundled double pendulum, and the four-bar in minimal coordinates, pickled in November 2026.
PENDULUM = (
    "eNrNVc2LE0kUF9L5clxXV0FUZEJmd50sbGYUvGVURIjjOFkd13OodFdSpd1VTX2M6VFBwU+om7XXPe3ZmyCI6H8hsgf1"
    "7MU/YV93Ot0dlRHxsn3p96req3q/X/1e1W3nr3+qO5LP/CD4gHsRa8d/ZU15I/k/tmbfdMbD0hU0VJQza+rr2CWIURlA"
    "TOuOvWUXjcNQgK350eN64ON+iJmnfR3AYj5l16RdJCXjXAAzSyE14wyQhKQqZVgoimzPVPBYCSRtyziQh+1aTQ/Iriyh"
    "rMMQC0v2wGrV1TQrryFAUtruqY8prgoXdESZjbe+yGGnLLI0jrZsd0f65cbLdxPjgTUlEUZfCpkaD6wemBIdj2HDp1eS"
    "L3YLObG7NeNG0UxwNDu7VXAB9V6jO5tUauSf3NlIvs4ETwOKX2kuN5Ybvy+3TzSXsukR5gFWIjrZcSNgz8OiIZBHtYTo"
    "9vLxZsPHbKTISvMYJHWWsvAkv7OUbmbvWfLT2u5Z3n1+fcL7gXTsUEYzOUyOpIONbSklTbIAq/6cUUB+ycLIr7l5NA9Y"
    "zEdb/x9u5me4KSkaAjM9srcFc0t6AB1UucopUzJWXvl8bBZVX5OEax8qsMa5BqVYs9PlTFGmuZaQGyKBIWPaHWWXUB+C"
    "ptrfnu5cnkD3OZCog8ZUFoQ8PbZCpCnHMce/FhRS5ZKCYis+DSiA7Jmqh4KQslFhsjYU1E2ui3ysHECCC/Fz8QHEV0SM"
    "MyWubupS0eGQYVko1zgCS1VskwCFtgcH0MnFif0Bv27J6RkeyZmMsbOZfr8i1Y+fSHV1W0bIGrlA1nOF9nrkj9y7mJuX"
    "emQjRXmQXM7H/8zNK7OQ6qCp/pCOsRfDKqfWmQzH2VR134znMxjfiee3bfDEmvE5D+PbvO5yHULfjRIHuUojxQU4sIxx"
    "htQHoe//5O1oa+EN4XWQoUgTK4JPsswcnLSElyLpshbIPHvDAu5h35raZaxUkpY/D2k/Tdg01ZFAm1R98ZJ/tfD3s0sf"
    "7s0DhGoIjwrdxPah2T3VdF+GGJbonrq79b77ZP8N40gGsuyu/Hvz7ZvXL56bPciHk+prFpJIUhf59pGZS4rvp/WV8RhY"
    "sDEQLjzKkMLQ+44SGEqsDQRiLsEJtPt2w7b/A4Y7PSs="
)
FOUR_BAR = (
    "eNq1V22IVFUYFnY+dmc1FlMJ/BrXjFmicT52Vxd2dzSti2mTX4iQNt65c2bOae+X5967zWxFRrkanbDySumPovolhFCx"
    "YJQZ/rI/0QcVS1CEYJQiRgUZ9PGeO3fm3rtjs2J4fsw95z3vPXPe53nP895zIHTs1XlznMbmUa2olWpqkj9Nm4W3O8+j"
    "Nru9MVNChkSJbhJNtVnXg0jCokoMBXz6nraftBMspIoKsllnWbNooShSWEUm6phhJ3AHC22BbtMXd7JIhWqWWrJZlKiI"
    "mkS0wSu6ye17iyqiYdjCuh53oxGNkgpRuXNoq2Ygz7OjWpuwhdwnx3k7Icxxm3D2ZN1yyGYdVK/Z3kxL55BtFVkHqVZh"
    "nT3lJT/vr2I+9L3DhxOBYQ1mc1PVTWfezx7lw+DsBN/S1FvX1Mv3X4S1I6hqUtGwmTY8TgxLlEdjcacN18OKQwwjvalk"
    "Jp6K35NKpgZ6Vzc9KkhTkElro8NFrRo3yATingNxcBvkP/3gO7y66eW8Nrza/Rv7oM1CwAayN3dbRTy3SUNYoiIQg3vw"
    "fNe2UMhN1xHDi/AdrnGxkDs+E9jcqdPbLh1cdvqQjZf6rNMb11f1nXcFQMXLhdy9V/bd/fpfS3C8OYNXeN1ez2GlZ71T"
    "GP07c/XKgvvSsMYq9mJ71FIZQMPBozcOTIMJBtmh/jVD6XjqukhKNcCkhGiciiViGc4i6UxvXEZqxcR8mM7OAitObF4a"
    "QDQqaZYuIzoD01+zTgtieu7InsTv54740Hu3buGY4mV14B55+7sTXz3zdRC4s+XSwsTDIz9x4A4sOf/Cm5e2B4HLVX/c"
    "eD4dec8B7qX2wKX7Z+KWTqYHB4ZuGrVsqn8wm26LHNNn2dOgs6d0etYjkHLOQIb/rG37l5OcrGSArAjVpLEWri6WnRbg"
    "6uwbPNe3XfZx9dF18/+LvlMPZTf8KazrWnHt6uJJtZH/6vypob0bvvzv/G84BGmMyS9/tu3D5x0aX2kHGdeLbP0AcDKa"
    "ByCzNrtmqD+eBZbTA0M3SWhmYPZjsCGAbKyObAGBxuOePF7VBy47rCIUl8ijGlHNel0IP8D7/sLQ7ShSoUTJOFST0Bjh"
    "RSImaapJVEuzQDwjukiRyhdq1JCwhInsPOtq5ieundzDIdsDshwSq8TwFYbc1RZPFuY+mdmcdGJK2FcBIjJRCIQKkUa2"
    "1LvNghWWtccg9YR/3IVY2NJ1bniqYegcR7ImERNKzLr+xoqoXNaoCZZE3QL7j5ZERSdqBWrNsxM/CKcWPA5VmBLJqdXe"
    "ZsIK7ECy86ybs60DMxxFl5pFrMswSbmsIsMHBQtRZJj+kqaIup0Hprc2CeuqE6bzqrwzwBTe1WRkt08XAxJ4sqWs+I6V"
    "I4F722KOC3gfFr0jU8zjMW8ke10lj1U31gTWPLvudfcHA5vrprBOxuFbqDW2RvpBcE0dCcQ2PTO2QObdmthGbiy2Hu94"
    "Fsqkiko8vrDb2+XFszt4kAOK+E6LIn7aQl1LVP8zvPyNhRdrUne9pPRSsU14uc/bCf4tYm9nm/D4Z7msabph98GZ4xHA"
    "kXcGomRaoqlR0MaAeoLqdK535zzdiVWQSAtUBHXw6QrcAMCr0PgYF0Z/+2Pq8AX8C96bZzEF8txEpQLISZ5FQfUljqSn"
    "ChxQWVOKPtNcWG2/hQqOAIIwXXC/fzrZHCiIk7xkrOpjoTKRQeXnNe4MSYuWynAnMHTqBhdx9sV73UCiAZ/PTu3oA9lr"
    "XloUrYRkuHnsQKbpvOZdH4oi3BEaic2iFSqOO3raWhU+Xvkap3c5yHhUh0sHB/Awu62howVDR7CEp7AhQwUpFEa+feL7"
    "6W/OfMB6RBkEvWCpOq4ZRBJl+znWXQfV3V8YVYEpzpGm0RJRRRMBY1GFqEQR+f6LwJ2EkRPdpL3dTv4Lt1Ytdw=="
)


@pytest.mark.parametrize(
    ("text", "name", "coordinates"),
    [(PENDULUM, "double_pendulum", "tree"), (FOUR_BAR, "four_bar", "minimal")],
)
def test_robots_pickled_before(text, name, coordinates):
    old = pickle.loads(zlib.decompress(base64.b64decode(text)))
    new = rd.load(name, coordinates=coordinates)
    assert old.mechanism == new.mechanism
    q = new.random(1)
    v, tau = np.ones(new.nv), np.full(new.nv, 2.0)
    np.testing.assert_array_equal(old.forward_dynamics(q, v, tau), new.forward_dynamics(q, v, tau))
    again = pickle.loads(pickle.dumps(old))
    np.testing.assert_array_equal(again.neutral(), new.neutral())
    np.testing.assert_array_equal(again.tree_form.neutral(), new.tree_form.neutral())


@pytest.mark.parametrize(("snap", "rigid"), [(None, False), (1e-10, False), (0.0, True)])
def test_settings_pickled_when_there_was_snap(snap, rigid):
    settings = Settings(gravity=(0.0, 0.0, -1.6))
    vars(settings)["snap"] = snap
    del vars(settings)["rigid"]
    found = pickle.loads(pickle.dumps(settings))
    assert found == Settings(gravity=(0.0, 0.0, -1.6), rigid=rigid)
    assert found.snap(()) == Settings(rigid=rigid).snap(())
