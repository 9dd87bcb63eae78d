"""Objects in an S3 bucket. The only folder that imports boto3.

Imports object_store.py of the folder above.
Start in bucket_store.py.
"""
