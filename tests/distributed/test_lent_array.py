"""What may be asked of an array that is lent, and what raises the owner's error."""

import copy
import pickle

import numpy as np
import pytest

from simdist.distributed.lent_array import LentArray, lent, plain


class TouchedError(Exception):
    pass


class Owner:
    def touched(self, array):
        return TouchedError(f"{array.shape} {array.dtype}")

    def __str__(self):
        return "somebody"


def array(value=2.0):
    return lent(np.full((2, 3), value), Owner())


USES = {
    "add": lambda a: a + 1,
    "add from the right": lambda a: 1.0 + a,
    "in place": lambda a: a.__iadd__(1),
    "as output": lambda a: np.add(np.ones((2, 3)), 1, out=a),
    "product": lambda a: np.ones((3, 2)) @ a,
    "function": lambda a: np.concatenate([a, a]),
    "dot": lambda a: np.dot(a, np.ones(3)),
    "element": lambda a: a[0, 0],
    "write": lambda a: a.__setitem__(0, 1.0),
    "iterate": lambda a: list(a),
    "contains": lambda a: 1.0 in a,
    "sum": lambda a: a.sum(),
    "item": lambda a: lent(np.ones(1), Owner()).item(),
    "float": lambda a: float(lent(np.ones(1), Owner())),
    "int": lambda a: int(lent(np.ones(1), Owner())),
    "truth": lambda a: bool(lent(np.ones(1), Owner())),
    "copy": lambda a: a.copy(),
    "copy module": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "tolist": lambda a: a.tolist(),
    "view": lambda a: a.reshape(-1) + 1,
    "transpose": lambda a: a.T * 2,
}


@pytest.mark.parametrize("use", USES)
def test_to_use_it_is_an_error(use):
    with pytest.raises(TouchedError):
        USES[use](array())


def test_its_form_is_known_and_it_says_whose_it_is():
    a = array()
    assert (a.shape, a.dtype, a.ndim, a.size, a.nbytes, len(a)) == ((2, 3), np.float64, 2, 6, 48, 2)
    assert isinstance(a.reshape(3, 2).T, LentArray)
    assert repr(a) == str(a) == f"{a}" == "<(2, 3) float64, lent to somebody>"


def test_who_owns_it_can_use_the_same_memory():
    original = np.zeros(4)
    a = lent(original, Owner())
    plain(a)[...] = 3.0
    assert original.tolist() == [3.0] * 4
    assert plain(original) is original
