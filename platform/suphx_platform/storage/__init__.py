"""Files in a folder or in S3, uploaded in the background. Start in storage.py, then upload_queue.py."""
