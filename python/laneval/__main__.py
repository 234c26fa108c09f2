"""The command `laneval`."""

import sys

from laneval._native import command


def main() -> int:
    """Runs the command with the arguments of this process."""
    return command(["laneval", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
