"""Folders, tar and zip files of records: reading, verifying, storing and setting damaged ones aside.

Imports the other rooms of records/.
Start in archive.py.
"""
