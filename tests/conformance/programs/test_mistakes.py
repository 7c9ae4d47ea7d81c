"""Each mistake is one: the simulator refuses it, with every word that a backend must say."""

from __future__ import annotations

import re

import pytest

import simdist as sd
from simdist.conformance.programs.mistakes import MISTAKES


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name.removeprefix("mistake: "))
@pytest.mark.parametrize("world_size", [2, 3])
def test_it_is_refused(mistake, world_size):
    with pytest.raises(mistake.raises) as caught:
        sd.run(mistake.fn, world_size=world_size, **mistake.options)
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert all(re.search(pattern, text, re.DOTALL) for pattern in mistake.says), text
