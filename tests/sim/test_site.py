from simdist.cluster import presets
from simdist.sim.site import Site


def test_an_untraced_site_keeps_no_rows_and_a_strict_one_takes_no_short_cuts():
    cluster = presets.get("dgx-a100")
    site = Site(cluster, 2, traced=False)
    assert (site.spans, site.flows, site.memory) == (None, None, None)
    assert site.meetings.shortcut
    assert not Site(cluster, 2, lazy=False).meetings.shortcut
    assert not Site(cluster, 2, eager_limit=1).meetings.shortcut
    assert not Site(cluster, 2, shortcut=False).meetings.shortcut
    assert Site(cluster, 2).network.flows is not None
