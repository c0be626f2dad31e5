"""`python -m warpwright`: the command of that name, where it is not on the path."""

from warpwright.cli.main import main

main()
