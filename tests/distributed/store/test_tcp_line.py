from hypothesis import given, settings
from hypothesis import strategies as st

from simdist.distributed.store.tcp_line import packed, unpacked


@settings(max_examples=50)
@given(st.recursive(st.text() | st.integers() | st.binary() | st.booleans() | st.none(), st.lists, max_leaves=8))
def test_a_message_is_one_line_and_comes_back(message):
    line = packed(["set", message])
    assert (line.count(b"\n"), unpacked(line)) == (1, ["set", message])
