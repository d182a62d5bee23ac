"""Command line `vigym`: a module for each command, collected in `app`."""
