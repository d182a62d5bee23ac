"""The command line: `app` holds it together, each command has a file of its own."""
