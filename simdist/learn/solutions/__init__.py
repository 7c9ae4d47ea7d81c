"""One solution to each exercise that passes (``reference``), and one that looks right and does not (``naive``).

Look here after you have tried. Nothing imports these files before a learner's own function has passed.
"""
