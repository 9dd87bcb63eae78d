"""Files in a folder or in S3, uploaded in the background. The only folder that imports boto3.

Imports nothing of the platform.
Start in storage.py.
"""
