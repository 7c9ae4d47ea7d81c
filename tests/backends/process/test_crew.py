"""The caller's side alone: the workers are played by the test, over real sockets."""

from __future__ import annotations

import pickle
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from simdist.backends.process.channel import Channel
from simdist.backends.process.crew import Crew
from simdist.backends.process.failure import report
from simdist.backends.process.job import Job, Surroundings
from simdist.backends.process.patience import ExpiredError
from simdist.backends.process.worker import BETWEEN
from simdist.errors import DistBackendError, RankFailedError

pytestmark = pytest.mark.timeout(30)
Script = Callable[[int, Channel], None]


class Actor:
    """Looks like a child; its process is a script in a thread."""

    def __init__(self, channel: Channel, code: int | None) -> None:
        self.channel, self.code = channel, code
        self.process = type("Process", (), {"stdout": None})()
        self.last_words = ["its last line"]

    def exit_code(self, patience: float = 0.0) -> int | None:
        return self.code if patience else None

    def raw_lines(self) -> list[str]:
        return []


@pytest.fixture
def play() -> Iterator[Callable[..., Any]]:
    ends: list[Channel] = []
    threads: list[threading.Thread] = []

    def go(*scripts: Script, code: int | None = None, patience: float = 10.0) -> Any:
        actors = []
        for rank, script in enumerate(scripts):
            mine, theirs = map(Channel, socket.socketpair())
            ends.extend((mine, theirs))
            actors.append(Actor(mine, code))
            threads.append(threading.Thread(target=script, args=(rank, theirs)))
            threads[-1].start()
        here = Surroundings([], [], None, {}, {})
        jobs = [Job(rank, len(scripts), "m:f", b"", here) for rank in range(len(scripts))]
        return Crew(actors, jobs, "tcp", patience).run()  # type: ignore[arg-type]

    yield go
    for thread in threads:
        thread.join(10)
    for end in ends:
        end.close()


def _until_go(rank: int, channel: Channel) -> None:
    kinds = [channel.receive()[0], channel.receive()[0]]
    assert kinds == ["job", "listen"]
    channel.send("port", 1000 + rank)
    kind, ports, token = channel.receive()
    assert (kind, ports[rank], len(token)) == ("ports", 1000 + rank, 16)
    channel.send("ready")
    assert channel.receive()[0] == "go"


def _returns(rank: int, channel: Channel) -> None:
    _until_go(rank, channel)
    channel.send("text", f"line of {rank}")
    channel.send("done", pickle.dumps((rank * 10, f"payload {rank}")), 0.5 + rank)
    assert channel.receive() == ("end",)


def test_a_run_that_ends_well(play: Any, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = play(_returns, _returns)
    assert outcome.results == [0, 10]
    assert outcome.rank_times == [0.5, 1.5]
    assert outcome.payloads == ["payload 0", "payload 1"]
    assert sorted(capsys.readouterr().out.splitlines()) == ["[rank 0] line of 0", "[rank 1] line of 1"]


def test_failures_within_a_moment_are_told_together(play: Any) -> None:
    def fails(rank: int, channel: Channel) -> None:
        _until_go(rank, channel)
        channel.send("failed", report(rank, 0.9 - 0.1 * rank, ValueError(rank)))

    with pytest.raises(ValueError, match="1") as caught:
        play(fails, fails)
    assert caught.value.__notes__[-1] == "rank 0 failed too, at 0.900 s: ValueError: 0"


def test_a_worker_whose_connection_ends(play: Any) -> None:
    def leaves(rank: int, channel: Channel) -> None:
        _until_go(rank, channel)
        channel.sock.shutdown(socket.SHUT_RDWR)

    with pytest.raises(RankFailedError, match=r"rank 0 left with exit code 3 .*\n    its last line"):
        play(leaves, code=3)


def test_a_worker_that_ends_before_it_is_ready(play: Any) -> None:
    with pytest.raises(RankFailedError, match="rank 0 was killed by signal 11"):
        play(lambda rank, channel: channel.sock.shutdown(socket.SHUT_RDWR), code=-11)


def test_all_others_are_asked_when_a_rank_waited_in_vain(play: Any) -> None:
    def expires(rank: int, channel: Channel) -> None:
        _until_go(rank, channel)
        channel.send("failed", report(rank, 0.5, ExpiredError("rank 0 waited"), ["a message (train.py:3)"]))

    def answers(rank: int, channel: Channel) -> None:
        _until_go(rank, channel)
        assert channel.receive() == ("ask",)
        channel.send("waits", ["waits for nothing, it is at train.py:9"], [])

    def silent(rank: int, channel: Channel) -> None:
        _until_go(rank, channel)
        assert channel.receive() == ("ask",)

    with pytest.raises(ExpiredError) as caught:
        play(expires, answers, silent)
    assert str(caught.value).splitlines() == [
        "rank 0 waited",
        "What each rank was doing:",
        "  rank 0 waits for a message (train.py:3)",
        "  rank 1 waits for nothing, it is at train.py:9",
        "  rank 2 does not answer (it is busy in compiled code)",
    ]


def test_who_is_about_to_fail_is_heard(play: Any) -> None:
    def expires(rank: int, channel: Channel) -> None:
        _until_go(rank, channel)
        channel.send("failed", report(rank, 0.5, ExpiredError("rank 0 waited"), ["a message (train.py:3)"]))

    def between(rank: int, channel: Channel) -> None:
        _until_go(rank, channel)
        assert channel.receive() == ("ask",)
        channel.send("waits", [BETWEEN], [])
        time.sleep(0.15)
        channel.send("failed", report(rank, 0.5, ExpiredError("rank 1 waited"), ["another (train.py:5)"]))

    with pytest.raises(ExpiredError) as caught:
        play(expires, between)
    assert str(caught.value).splitlines()[2:] == [
        "  rank 0 waits for a message (train.py:3)",
        "  rank 1 waits for another (train.py:5)",
    ]


def test_a_worker_that_never_gets_ready(play: Any) -> None:
    with pytest.raises(DistBackendError, match=r"ranks \[0\] were not ready within 0.3 s \(start_timeout\)"):
        play(lambda rank, channel: None, patience=0.3)


def test_ctrl_c_comes_through(play: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Crew, patience: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Crew, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        play(lambda rank, channel: None)
