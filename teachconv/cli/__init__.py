"""The command line, ``python -m teachconv``; `main` parses it and runs the command."""
