"""``python -m simdist``: the same as the ``simdist`` command."""

from simdist.cli import main

if __name__ == "__main__":
    main()
