"""``python -m robodyn``."""

from robodyn.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
