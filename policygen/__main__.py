"""`python -m policygen`."""

from policygen.cli import main

if __name__ == "__main__":
    main()
