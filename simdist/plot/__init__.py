"""How does it look? Pictures of runs: timeline, memory, breakdown, speed-up.

Nothing outside this package imports matplotlib, and this package is imported when the first picture is asked for. Every
function draws on the axes it is given or makes a figure of its own, returns the axes, shows nothing and changes no
settings of matplotlib. Who asked for a figure closes it.
"""
