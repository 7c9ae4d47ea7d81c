"""Which text is there to learn from without a network?

Python's own help texts, the module ``pydoc_data.topics`` of the standard library: half a million characters on the language, for
a model that predicts the next character. The text is Python's and **differs between Python versions**: so do the vocabulary
and every loss. ``text_digest()`` says which text this is; compare it before you compare numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from simdist.data import batch
from simdist.tensor import Tensor, from_numpy

__all__ = ["decode", "encode", "text", "text_digest", "text_vocab"]

Ids = npt.NDArray[np.int64]


@cache
def _text() -> str:
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


@cache
def text_vocab() -> str:
    """Every character of the text, sorted; a character's id is its position."""
    return "".join(sorted(set(_text())))


def text_digest() -> str:
    """SHA-256 of the text (UTF-8) in hexadecimal: which Python's text is it?"""
    return hashlib.sha256(_text().encode("utf-8")).hexdigest()


def encode(characters: str) -> Ids:
    """Ids of the characters of a string: (length,).

    Raises:
        DataError: a character that the text does not have.
    """
    table = {character: index for index, character in enumerate(text_vocab())}
    for character in characters:
        if character not in table:
            raise batch.DataError(
                f"the character {character!r} is not in text_vocab(): a model of this text has no id for it."
            )
    return np.array([table[character] for character in characters], dtype=np.int64)


def decode(ids: Any) -> str:
    """The string of a sequence of ids."""
    return "".join(text_vocab()[index] for index in np.asarray(ids).ravel().tolist())


@cache
def _ids() -> Ids:
    ids = encode(_text())
    ids.flags.writeable = False
    return ids


def text(
    batch_size: int,
    block_size: int,
    rank: int = 0,
    world_size: int = 1,
    steps: int | None = None,
    seed: int = 0,
    epoch: int = 0,
) -> Iterator[tuple[Tensor, Tensor]]:
    """This rank's share of shuffled batches of text, as character ids.

    The text is cut into blocks of ``block_size`` characters; an epoch shows each block once, shuffled.

    Args:
        batch_size: blocks in the *global* batch; each rank gets its contiguous share, shares differ by at most one block.
        block_size: characters in a block.
        rank: who asks.
        world_size: how many ranks share a batch.
        steps: number of batches, going on into the following epochs; None for one epoch (its whole batches).
        seed: selects the shuffles, the same on every rank.
        epoch: the first epoch; each epoch has its own shuffle.

    Yields:
        x: Tensor (rows, block_size) of int64, and y: the same shifted by one character, what comes next.

    Raises:
        DataError: an argument that cannot be right; it is raised here, before the first step.
    """
    ids = _ids()
    if isinstance(block_size, bool) or not hasattr(block_size, "__index__") or not 1 <= block_size < len(ids):
        raise batch.DataError(f"text: block_size must be an integer in 1..{len(ids) - 1}, got {block_size!r}.")
    count = (len(ids) - 1) // block_size
    inputs = ids[: count * block_size].reshape(count, block_size)
    targets = ids[1 : count * block_size + 1].reshape(count, block_size)
    rows = batch.indices("text", count, batch_size, rank, world_size, steps, epoch, seed)
    return ((from_numpy(inputs[row]), from_numpy(targets[row])) for row in rows)
