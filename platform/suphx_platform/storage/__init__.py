"""Files in a folder or in S3, uploaded in the background.

Imports nothing of the platform; the folder itself its objects/.
Start in storage.py (saving and loading), then stored_versions.py (which versions there are).
"""
