"""What a stage of a pipeline is, and the folder that it leaves.

Imports recipe/.
Start in stage.py.
"""
