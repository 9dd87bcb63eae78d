"""Folders, tar and zip files of records: reading, verifying, storing and setting damaged ones aside.

Imports the other folders of records/.
Start in archive.py.
"""
