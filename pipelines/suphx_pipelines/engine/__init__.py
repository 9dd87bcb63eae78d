"""What a stage of a pipeline is, and the folder that it leaves. Start in stage.py."""
