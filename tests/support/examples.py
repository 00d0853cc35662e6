"""How many random examples a test looks at: `make test` takes some of them."""

import os

from hypothesis import settings


def examples(count):
    """So many examples of a hypothesis; with ``ROBODYN_TEST_EXAMPLES=5``, a fifth of them."""
    share = int(os.environ.get("ROBODYN_TEST_EXAMPLES", "1"))
    return settings(max_examples=max(4, count // share), deadline=None)
