import pytest

from simdist.distributed.store.file_table import visit
from simdist.errors import DistStoreError


def test_it_is_a_mapping_that_stays_in_the_file(tmp_path):
    path = str(tmp_path / "t")
    with visit(path) as table:
        table["b"], table["a"] = b"\x00", b""
        table["b"] = b"\x01"
        assert table.count(present=1, gone=0) == (1, 0)
    with visit(path) as table:
        assert (dict(table), len(table), table.pop("a"), "a" in table) == ({"a": b"", "b": b"\x01"}, 2, b"", False)
        assert table.count(present=-1, gone=1) == (0, 1)
        with pytest.raises(KeyError):
            del table["a"]


def test_a_visit_that_fails_changes_nothing(tmp_path):
    path = str(tmp_path / "t")

    def spoil():
        with visit(path) as table:
            table["k"] = b"v"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        spoil()
    with visit(path) as table:
        assert len(table) == 0


def test_files_that_cannot_be_used(tmp_path):
    (tmp_path / "text").write_text("this is something else\n" * 100)
    for path in (tmp_path / "text", tmp_path / "no folder" / "f"):
        with pytest.raises(DistStoreError, match=r"FileStore cannot use .* Name a new file"), visit(str(path)):
            pass
