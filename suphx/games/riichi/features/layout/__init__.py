"""Which planes there are, in which order, and what each of them means.

Imports suphx.kernel and table/.
Start in planes.py, then paper_layout.py.
"""
