"""torch.utils' names: ``checkpoint`` (recompute activations instead of keeping them)."""
