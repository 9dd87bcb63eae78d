"""What a stage of a pipeline is, and the folder that it leaves.

Imports nothing of the other folders of the pipelines.
Start in stage.py.
"""
