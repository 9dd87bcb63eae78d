"""Files and folders of game records: found, unpacked, read, written, stored, verified.

Start in archive.py.
"""
