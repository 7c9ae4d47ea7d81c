"""Which models come with it?

A GPT whose parts can be a pipeline's stages. The multilayer perceptron is ``nn.MLP``.
"""

from .gpt import GPT, GPTConfig, GPTStage

__all__ = ["GPT", "GPTConfig", "GPTStage"]
