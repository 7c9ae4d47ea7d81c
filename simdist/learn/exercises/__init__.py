"""The exercises, one file each.

A file's docstring is the statement; its ``spec`` is what is right, slow and obvious. ``exchange`` (1) · ``ring_all_reduce`` (4) ·
``data_parallel_step`` (8). Solutions are in ``simdist.learn.solutions``: look there after you have tried.
"""
