from __future__ import annotations

import threading

from simdist.backends.process.stream import RankStream


def test_whole_lines_are_handed_over() -> None:
    lines: list[str] = []
    stream = RankStream(lines.append)
    print("a", "b", file=stream)
    print("one\ntwo\n\nthree", end="", file=stream)
    assert lines == ["a b", "one", "two", ""]
    stream.finish()
    stream.finish()
    assert lines == ["a b", "one", "two", "", "three"]


def test_it_is_a_text_stream() -> None:
    stream = RankStream(lambda line: None)
    assert stream.writable()
    assert not stream.isatty()
    assert stream.encoding == "utf-8"
    assert stream.write("abc") == 3
    stream.flush()


def test_threads_do_not_mix_their_lines() -> None:
    lines: list[str] = []
    stream = RankStream(lines.append)
    threads = [threading.Thread(target=lambda: [stream.write("x" * 50 + "\n") for _ in range(100)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lines == ["x" * 50] * 400
