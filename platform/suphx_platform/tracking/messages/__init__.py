"""Messages for MLflow on their way: a queue on disk, what it takes when it is nearly full, threads that send.

Imports client/, console/ and what is below the platform.
Start in message_log.py.
"""
