"""A web server for one person on this machine: it listens on loopback, and answers whoever has its token.

Imports nothing of the project. uvicorn is met here only.
Start in local_server.py.
"""
