"""What is it trained on? Handwritten digits and Python's help texts: both real, both in the package or the standard library."""

from __future__ import annotations

from simdist.data.batch import DataError
from simdist.data.handwriting import digits, digits_split
from simdist.data.topics import decode, encode, text, text_digest, text_vocab

__all__ = ["DataError", "decode", "digits", "digits_split", "encode", "text", "text_digest", "text_vocab"]
