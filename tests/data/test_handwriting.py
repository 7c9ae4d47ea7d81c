"""Are these the UCI digits, and is the split what it says?"""

from __future__ import annotations

import hashlib
from importlib import resources

import numpy as np
import pytest

from simdist.data import DataError, digits, digits_split
from simdist.tensor import Tensor, device

# SHA-256 of scikit-learn 1.9.1's load_digits(): data and target as uint8.
IMAGES = "8f26b2bd9d135c256808f68f14fdabddde6d9c7f869ae419704b051f0f14b3b3"
LABELS = "8ba4f891220f5e4c9c819638d1602d74b83618f167043c6da52a2a247841ddf0"


def values(x: Tensor) -> np.ndarray:
    """The numpy array inside."""
    assert isinstance(x, Tensor)
    return x.numpy()


def test_the_file_is_small_and_is_what_scikit_learn_distributes() -> None:
    with resources.files("simdist.data").joinpath("digits.npz").open("rb") as file:
        assert len(file.read()) < 60_000
        file.seek(0)
        with np.load(file) as arrays:
            images, labels = arrays["images"], arrays["labels"]
    assert images.shape == (1797, 64)
    assert images.dtype == labels.dtype == np.uint8
    assert images.max() == 16
    digests = [hashlib.sha256(array.tobytes()).hexdigest() for array in (images, labels)]
    assert digests == [IMAGES, LABELS]


def test_the_licence_travels_with_the_data() -> None:
    text = resources.files("simdist.data").joinpath("digits.LICENSE.txt").read_text(encoding="utf-8")
    for word in ("Alpaydin", "Kaynak", "CC BY 4.0", "archive.ics.uci.edu"):
        assert word in text


def test_the_split_is_fixed_and_complete() -> None:
    x_train, y_train, x_test, y_test = digits_split()
    assert x_train.shape == (1437, 64)
    assert x_test.shape == (360, 64)
    assert y_train.shape == (1437,)
    assert y_test.shape == (360,)
    assert x_train.dtype == x_test.dtype == np.float32
    assert y_train.dtype == y_test.dtype == np.int64
    assert x_train.min() == x_test.min() == 0
    assert x_train.max() == x_test.max() == 1
    assert np.bincount(y_test).tolist() == [36] * 10
    assert hashlib.sha256(x_test.tobytes()).hexdigest()[:16] == "fab82082bb62df28"
    every = np.concatenate([x_train, x_test]).astype(np.float64).sum()
    assert every * 16 == 561_718
    assert np.bincount(np.concatenate([y_train, y_test])).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_the_split_may_be_changed_by_whoever_asked() -> None:
    digits_split()[0][:] = -1
    assert digits_split()[0].min() == 0


def test_the_split_in_float64_has_the_same_values() -> None:
    assert (digits_split(np.float64)[0] == digits_split()[0]).all()  # sixteenths are exact
    assert digits_split("float64")[2].dtype == np.float64


def test_a_batch_is_scaled_images_and_their_labels() -> None:
    (x, y), *more = digits(32, steps=3)
    assert len(more) == 2
    assert values(x).shape == (32, 64)
    assert values(x).dtype == np.float32
    assert values(y).shape == (32,)
    assert values(y).dtype == np.int64
    x_train, y_train, _, _ = digits_split()
    for image, label in zip(values(x), values(y), strict=True):
        found = np.flatnonzero((x_train == image).all(axis=1))
        assert label in y_train[found]


def test_the_ranks_batches_together_are_the_batch_of_one() -> None:
    whole = list(digits(50, steps=2, seed=7))
    parts = [list(digits(50, rank=rank, world_size=4, steps=2, seed=7)) for rank in range(4)]
    for step in range(2):
        assert [len(values(part[step][1])) for part in parts] == [13, 13, 12, 12]
        assert (np.concatenate([values(part[step][0]) for part in parts]) == values(whole[step][0])).all()
        assert (np.concatenate([values(part[step][1]) for part in parts]) == values(whole[step][1])).all()


def test_an_epoch_without_steps() -> None:
    assert len(list(digits(256))) == 1437 // 256
    assert len(list(digits(100, train=False))) == 3


def test_the_same_address_gives_the_same_bytes() -> None:
    def digest(**address: int) -> str:
        return hashlib.sha256(b"".join(values(x).tobytes() for x, _ in digits(64, steps=2, **address))).hexdigest()

    assert digest(seed=1) == digest(seed=1)
    assert len({digest(seed=1), digest(seed=2), digest(seed=1, epoch=1)}) == 3


def test_test_images_are_not_trained_on() -> None:
    trained = {x.tobytes() for batch, _ in digits(1437) for x in batch.numpy()}
    tested = {x.tobytes() for batch, _ in digits(360, train=False) for x in batch.numpy()}
    assert len(tested) == 360
    assert not trained & tested


def test_float64() -> None:
    x, _ = next(digits(8, dtype=np.float64))
    assert values(x).dtype == np.float64


def test_a_mistake_is_told_before_the_first_step() -> None:
    with pytest.raises(
        DataError, match="digits: batch_size=2 is smaller than world_size=4: some rank would get no row"
    ):
        digits(2, world_size=4)
    with pytest.raises(DataError, match=r"digits: batch_size=400, but there are 360 rows\. Make it at most 360\."):
        digits(400, train=False)


def test_without_numbers_images_are_shapes_and_labels_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_source", [lambda: "meta"])
    x, y = next(digits(8, rank=1, world_size=3))
    assert x.is_meta
    assert x.shape == (3, 64)
    assert not y.is_meta
    assert y.dtype == np.int64
