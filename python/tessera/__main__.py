"""The command line of the laboratory: `tessera`, or `python -m tessera`."""
import os
import pathlib
import sys


def main() -> None:
    program = pathlib.Path(__file__).resolve().parent / "bin" / "tessera"
    if not program.exists():
        sys.exit(f"tessera: {program} does not exist: this package was not installed from a wheel")
    os.execv(program, [str(program)] + sys.argv[1:])


if __name__ == "__main__":
    main()
