"""Where objects lie: below a folder, or in an S3 bucket. The only folder that imports boto3.

Imports nothing of the folders around it.
Start in object_store.py, then folder_store.py and bucket_store.py.
"""
