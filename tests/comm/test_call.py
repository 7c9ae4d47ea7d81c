from __future__ import annotations

import numpy as np
import pytest

from simdist.comm import ALGORITHMS, Call, Members, ReduceOp, plan
from simdist.comm.call import describe
from tests.comm.conftest import request


def test_members_know_their_size() -> None:
    assert Members(3, (0, 2, 5), 1, "odd").size == 3


def test_a_chunk_is_a_view_of_the_buffer() -> None:
    call = Call(request("ring_all_reduce", 0, 3, 7), 0, np.arange(7.0))
    assert [call.chunk(index).tolist() for index in range(3)] == [[0, 1, 2], [3, 4], [5, 6]]
    call.chunk(1)[...] = -1
    assert call.flat.tolist() == [0, 1, 2, -1, -1, 5, 6]


def test_a_tree_moves_the_whole_buffer() -> None:
    call = Call(request("binomial_broadcast", 0, 3, 7), 0, np.arange(7.0))
    assert call.chunk(0) is call.flat


def test_chunks_may_be_arrays_of_their_own() -> None:
    parts = {0: np.zeros(2), 1: np.ones(3)}
    assert Call(request("star_gather", 0, 2, 5), 0, None, parts=parts).chunk(1) is parts[1]


def test_the_names_for_traces_and_errors() -> None:
    call = Call(request("ring_all_reduce", 0, 2, 4), 3, np.zeros(4))
    assert call.label == "all_reduce #3"
    assert call.full_label == "all_reduce #3 of group 'world'"
    assert call.members.name == "world"
    assert call.details == {
        "group": "world", "sequence": 3, "bytes": 32, "size": 2, "algorithm": "ring_all_reduce", "collective": "all_reduce",
        "root": 0,
    }  # fmt: skip
    assert request("binomial_reduce", 1, 4, 4, root=2).details(0)["root"] == 2


def test_the_steps_are_the_algorithm_s() -> None:
    asked = request("binomial_reduce", 1, 4, 4, root=2)
    assert asked.steps() == plan(ALGORITHMS["binomial_reduce"], 1, 4, 2)


def test_calls_alike_have_equal_signatures() -> None:
    assert request("ring_all_reduce", 0, 2, 4).signature == request("ring_all_reduce", 1, 2, 4).signature
    assert request("ring_all_reduce", 0, 2, 4).signature != request("ring_all_reduce", 1, 2, 5).signature
    assert (
        request("ring_all_reduce", 0, 2, 4).signature != request("ring_all_reduce", 0, 2, 4, op=ReduceOp.MAX).signature
    )


@pytest.mark.parametrize(
    ("signature", "text"),
    [
        (("barrier", None, None, None, None), "barrier"),
        (("all_reduce", (4, 8), "float32", "SUM", None), "all_reduce of (4, 8) float32, SUM"),
        (("broadcast", (3,), "int64", None, 2), "broadcast of (3,) int64, root 2"),
    ],
)
def test_a_signature_in_words(signature: tuple[object, ...], text: str) -> None:
    assert describe(signature) == text


def test_a_request_describes_itself() -> None:
    assert request("ring_all_reduce", 0, 2, 4).describe() == "all_reduce of (4,) float64, SUM, root 0"
