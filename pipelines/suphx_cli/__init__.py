"""The command line `suphx`. Start in cli.py, then command_parser.py."""
