from simdist.plot.formats import endings


def test_the_usual_ones_are_there_in_order() -> None:
    found = endings()
    assert {"pdf", "png", "svg"} <= set(found)
    assert found == sorted(found)
