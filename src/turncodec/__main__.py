"""`python -m turncodec` is the command `turncodec`."""

from turncodec.cli import main

if __name__ == "__main__":
    main()
