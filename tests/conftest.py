"""What all tests share."""

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

if importlib.util.find_spec("hypothesis"):  # not where only the tests of ROS run
    from hypothesis import settings

    settings.register_profile("robodyn", deadline=None)  # machines may be busy
    settings.load_profile("robodyn")
