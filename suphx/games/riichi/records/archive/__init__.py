"""Folders, tar and zip files of records: reading, verifying, storing and setting damaged ones aside.

Imports log/, mjlog/, mjai/, tenhou6/ and table/.
Start in archive.py.
"""
