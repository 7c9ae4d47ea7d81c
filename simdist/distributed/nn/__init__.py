"""Collectives inside a model: ``functional``."""

from . import functional

__all__ = ["functional"]
