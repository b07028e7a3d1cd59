"""``python -m ripplet`` is the command ``ripplet``."""

from ripplet_command import main

main()
