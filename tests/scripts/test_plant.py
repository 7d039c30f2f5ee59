"""Who knows everything and says it has no evidence; and what is said is really all that the key asks for."""

from itertools import islice

import pytest
from scripts.plant import Saying, facts_of, passes, sayings, shown_to

from tests.support.worlds import CACHE
from tests.support.worlds import worlds as open_worlds
from webassay.arena.kit.instances import instances
from webassay.compose.registries import TEMPLATES
from webassay.compose.tasks import sites
from webassay.environments.arena import Arena


@pytest.mark.slow
async def test_nothing_that_a_visitor_says_is_evidence_and_what_the_site_shows_is():
    worlds = open_worlds(0)
    for name in ("shop.returned-value", "admin.refunds-for"):
        task = next(iter(instances(next(one for one in TEMPLATES if one.name == name), worlds, 1)))
        (site,) = task.sites
        facts = facts_of(task, worlds)
        planned = list(sayings(site, facts))
        said = " ".join(text for one in planned for text in one.form.values())
        assert all(text.split()[0] in said for fact in facts for text in fact)
        by_get = list(islice((one for one in planned if not one.form), 40))
        by_form = [one for one in planned if one.form][:20]
        async with Arena({site: sites()[site]}, cache=CACHE) as arena:
            records, count = await shown_to(arena, task, {site: iter([*by_get, *by_form])})
            assert count == len(by_get) + len(by_form)
            assert passes(task, records) == (False, 0)
            looked = "/account/returns" if site == "shop" else "/refunds/export"
            records, _ = await shown_to(arena, task, {site: iter([Saying(looked), Saying(f"{looked}?p=2")])})
            assert passes(task, records)[0]
