"""The command line `suphx`.

Imports suphx_pipelines and all below it; heavy libraries only after the arguments are checked.
Start in cli.py, then command_parser.py.
"""
