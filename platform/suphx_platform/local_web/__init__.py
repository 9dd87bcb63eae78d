"""A web server for one person on this machine: it listens on loopback, and answers whoever has its token.

Imports nothing of the project. The only folder that imports uvicorn.
Start in local_server.py.
"""
