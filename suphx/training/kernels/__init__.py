"""Which kernels a command needs, what they cost to compile, and compiling them beforehand. Start in warmup.py."""
