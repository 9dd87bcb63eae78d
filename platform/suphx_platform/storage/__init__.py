"""Files in a folder or in S3, uploaded in the background. The only room that imports boto3.

Imports nothing of the platform.
Start in storage.py.
"""
