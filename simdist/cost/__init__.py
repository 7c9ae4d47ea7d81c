"""How long should it take? Closed forms: roofline, alpha-beta, collectives, bandwidths, speed-up laws."""
