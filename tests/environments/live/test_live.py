"""Sites that are somebody else's, on stand-ins: addresses, log-in, reset, probes, and what can be wrong with each."""

import asyncio
import json
from contextlib import suppress
from unittest.mock import AsyncMock

import pytest

from tests.environments.live.running import StandIn, running, variables
from tests.environments.live.standin import REDDIT, SHOPPING
from tests.environments.live.tasks import old_task
from webassay.core.errors import InputError, ProbeError, SiteError
from webassay.core.task import Task
from webassay.core.trajectory import MemoryBlobs
from webassay.environments.addresses import Address, SiteAddresses, read_addresses
from webassay.environments.asking import ask
from webassay.environments.helpers import Helpers, read_call
from webassay.environments.live import Live, LiveOptions


def live(sites: dict[str, StandIn], tasks: list[Task], *, control: bool = True, **options: object) -> Live:
    told: list[str] = []
    place = Live(
        read_addresses("", variables(sites, control=control)),
        LiveOptions(**{"seconds": 5.0, "reset_seconds": 5.0, **options}),
        tasks,
        told.append,
    )
    place.told = told
    return place


ORDER = old_task(1, "shopping", kind="mutate")
READ = old_task(2, "shopping")
POST = old_task(3, "reddit", kind="mutate")
BOTH = old_task(4, "shopping", "reddit")


def test_addresses_by_variables():
    both = {"WA_SHOPPING": "http://here:7770/", "SHOPPING": "http://there:1", "REDDIT": "http://there:9999"}
    control = {"WA_SHOPPING_CONTROL": "http://here:7771", "WA_FULL_RESET": "http://here:7565/"}
    found = read_addresses("", {**both, **control})
    urls = {name: one.url for name, one in found.sites.items()}
    assert urls == {"shopping": "http://here:7770", "reddit": "http://there:9999"}
    assert found.sites["shopping"].control == "http://here:7771" and found.full_reset == "http://here:7565"
    assert found.sites["shopping"].username == "emma.lopez@gmail.com"


@pytest.mark.parametrize("name", ["WA_SHOPPING", "SHOPPING"])
def test_the_control_endpoint_is_read_whichever_variable_names_the_site(name):
    found = read_addresses("", {name: "http://here:7770", "WA_SHOPPING_CONTROL": "http://here:7771"})
    assert found.sites["shopping"].control == "http://here:7771"


def test_addresses_by_the_file_of_webarena_verified(tmp_path):
    file = tmp_path / "config.json"
    entry = {
        "urls": ["http://a:8023", "http://b:8023/"],
        "active_url_idx": 1,
        "credentials": {"username": "root", "password": "demopass"},
        "use_header_login": True,
        "container": {"docker_img": "x", "host_env_ctrl_port": 8024},
    }
    file.write_text(json.dumps({"environments": {"__GITLAB__": entry}}))
    (one,) = read_addresses(str(file), {"GITLAB": "http://not-this-one"}).sites.values()
    assert one == Address("gitlab", "http://b:8023", ("http://a:8023",), "root", "demopass", True, "http://b:8024")
    assert one.hosts == {"a:8023", "b:8023"}


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([], "not a configuration"),
        ({"environments": {"__SHOP__": {"urls": ["http://a"]}}}, "no site '__SHOP__'"),
        ({"environments": {"__REDDIT__": {"urls": []}}}, "no list of URLs"),
        ({"environments": {"__REDDIT__": {"urls": ["a:9999"]}}}, "'a:9999' is not an address"),
        ({"environments": {"__REDDIT__": {"urls": ["http://a"], "active_url_idx": 2}}}, "no URL number 2"),
    ],
)
def test_a_file_that_is_wrong_is_refused(tmp_path, value, says):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(value))
    with pytest.raises(InputError, match=says):
        read_addresses(str(file), {})


class TestBeforeARun:
    async def test_one_table_of_what_is_needed_and_a_warning_without_a_reset(self, sites):
        place = live(sites, [READ, POST])
        await place.look()
        (table,) = place.told
        lines = table.splitlines()
        assert lines[1].split() == ["site", "address", "answers", "log-in", "reset"]
        assert [line.split()[0] for line in lines[2:]] == ["reddit", "shopping"]
        assert "200 in" in lines[2] and "MarvelsGrantMan136" in lines[2] and sites["reddit"].control in lines[2]
        place = live(sites, [READ], control=False)
        await place.look()
        assert place.told[1].startswith("Nothing puts shopping back between episodes")

    @pytest.mark.parametrize(
        ("mode", "says"),
        [
            ("dead", "no: with 503"), ("slow", "not answered within 1 seconds"),
            ("elsewhere", "it leads to metis.example:7770"),
        ],
    )  # fmt: skip
    async def test_a_site_that_does_not_answer(self, sites, mode, says):
        sites["reddit"].mode = mode
        with pytest.raises(InputError, match=rf"(?s)Not every site can be reached:.*reddit .*{says}"):
            await live(sites, [READ, POST], seconds=1.0).look()

    async def test_a_site_that_nobody_named(self):
        with pytest.raises(InputError, match="shopping  nobody says where"):
            await Live(read_addresses("", {}), LiveOptions(), [READ]).look()


class TestAnEpisode:
    @pytest.mark.parametrize("site", ["shopping", "shopping_admin", "reddit", "gitlab"])
    async def test_it_is_logged_in(self, sites, site):
        user = {"shopping": "emma.lopez@gmail.com", "shopping_admin": "admin", "reddit": "MarvelsGrantMan136"}
        async with live(sites, []).stage(old_task(9, site)) as stage:
            cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in stage.cookies)
            page = await ask("GET", f"{stage.bases[site]}/", headers={"cookie": cookies})
            assert f"Welcome, {user.get(site, 'byteblaze')}" in page.text

    async def test_by_the_header_of_the_newer_images(self, sites):
        shop = Address("shopping", sites["shopping"].url, (), "emma.lopez@gmail.com", "Password.123", header_login=True)
        async with Live(SiteAddresses({"shopping": shop}), LiveOptions()).stage(READ) as stage:
            assert [cookie.name for cookie in stage.cookies] == ["PHPSESSID"]
        assert "POST" not in {method for method, _, _ in sites["shopping"].requests}
        wrong = Address("shopping", shop.url, (), shop.username, "guessed", header_login=True)
        with pytest.raises(SiteError, match="could not log in on shopping"):
            async with Live(SiteAddresses({"shopping": wrong}), LiveOptions()).stage(READ):
                pass

    async def test_the_right_ones_are_logged_in_and_can_be_reached(self, sites):
        async with live(sites, []).stage(READ.model_copy(update={"logins": {}})) as stage:
            assert not stage.cookies
        async with live(sites, []).stage(READ) as stage:
            assert stage.allowed_hosts == {f"127.0.0.1:{sites['shopping'].port}"}

    async def test_a_wrong_password_is_a_fault_that_says_so(self, sites):
        found = read_addresses("", variables(sites)).sites
        wrong = Address("gitlab", found["gitlab"].url, (), "byteblaze", "guessed")
        with pytest.raises(SiteError, match=r"byteblaze could not log in on gitlab at .*sign_in"):
            async with Live(SiteAddresses({"gitlab": wrong}), LiveOptions()).stage(old_task(9, "gitlab")):
                pass

    async def test_two_sites_whose_cookies_would_collide(self):
        sites = {"shopping": StandIn(SHOPPING), "reddit": StandIn(REDDIT)}
        says = "one host name and both use the cookie PHPSESSID"
        with running(*sites.values()), pytest.raises(SiteError, match=says):
            async with live(sites, []).stage(BOTH):
                pass

    async def test_one_at_a_time_on_a_site_unless_the_user_says_otherwise(self, sites):
        async def most_at_once(place: Live, *tasks: Task) -> int:
            now = most = 0
            together = asyncio.Event()

            async def play(task: Task) -> None:
                nonlocal now, most
                async with place.stage(task):
                    now += 1
                    most = max(most, now)
                    if now > 1:
                        together.set()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(together.wait(), 1)
                    now -= 1

            await asyncio.gather(*map(play, tasks))
            return most

        assert await most_at_once(live(sites, []), ORDER, READ, BOTH) == 1
        assert await most_at_once(live(sites, []), ORDER, POST) == 2
        assert await most_at_once(live(sites, [], parallel=2), ORDER, READ) == 2

    @pytest.mark.parametrize(("mode", "says"), [("dead", "shopping answers with 503"), ("slow", "not answered within")])
    async def test_a_site_that_dies_or_hangs_meanwhile_is_a_fault(self, sites, mode, says):
        async with live(sites, [], seconds=2.0).stage(READ) as stage:
            await stage.probe((), MemoryBlobs())
            sites["shopping"].mode = mode
            with pytest.raises(ProbeError, match=f"gone when the agent had stopped: .*{says}"):
                await stage.probe((), MemoryBlobs())


class TestReset:
    async def order(self, stage) -> None:
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in stage.cookies)
        headers = {"cookie": cookies, "content-type": "application/x-www-form-urlencoded"}
        answer = await ask("POST", f"{stage.bases['shopping']}/order", headers=headers, body=b"sku=B003")
        assert answer.status == 303

    async def test_what_one_episode_changes_the_next_one_does_not_find(self, sites):
        place = live(sites, [])
        for _ in range(2):
            async with place.stage(ORDER) as stage:
                assert await stage.help("func:shopping_get_latest_order_url()") == (
                    f"{sites['shopping'].url}/sales/order/view/order_id/1/"
                )
                await self.order(stage)
                assert (await stage.help("shopping_get_latest_order_url()")).endswith("/order_id/2/")
        assert sites["shopping"].resets == 2

    async def test_only_after_tasks_that_change_something_or_never(self, sites):
        async with live(sites, [], reset="never").stage(ORDER):
            pass
        assert sites["shopping"].resets == 0
        place = live(sites, [], reset="mutate")
        for task in (READ, READ, ORDER, READ, READ):
            async with place.stage(task):
                pass
        assert sites["shopping"].resets == 2, "at first, and after the order"

    async def test_by_a_server_that_resets_all(self, sites):
        shop = sites["shopping"]
        found = {**variables(sites, control=False), "WA_FULL_RESET": f"{shop.control}/full"}
        place = Live(read_addresses("", found), LiveOptions())
        for _ in range(2):
            async with place.stage(ORDER) as stage:
                await self.order(stage)
        assert shop.resets == 2

    @pytest.mark.parametrize(
        ("mode", "says"),
        [
            ("refuses", "shopping could not be reset: .*/init answers with 500.*no disk"),
            ("never ready", "shopping was not ready within 2 seconds after a reset: .*warming up"),
            ("half", "shopping was reset, but is not as it was at first: 2 orders, .*; at first it was 1 orders"),
        ],
    )
    async def test_a_reset_that_fails_is_noticed_and_made_up_for_when_the_episode_is_played_again(
        self, sites, mode, says
    ):
        place = live(sites, [], reset="mutate", reset_seconds=2.0)
        async with place.stage(ORDER) as stage:
            await self.order(stage)
        sites["shopping"].control_mode = mode
        with pytest.raises(SiteError, match=says):
            async with place.stage(READ):
                pass
        sites["shopping"].control_mode = "well"
        async with place.stage(READ) as stage:
            assert (await stage.help("shopping_get_latest_order_url()")).endswith("/order_id/1/")

    async def test_a_reset_of_all_that_failed_leaves_no_site_untouched(self, sites, monkeypatch):
        shop = sites["shopping"]
        found = {**variables(sites, control=False), "WA_FULL_RESET": f"{shop.control}/full"}
        place = Live(read_addresses("", found), LiveOptions(reset="mutate"))
        for task in (old_task(5, "reddit"), ORDER):
            async with place.stage(task):
                pass
        with monkeypatch.context() as patch:
            patch.setattr(place, "_until", AsyncMock(side_effect=SiteError("half of them are back")))
            with pytest.raises(SiteError, match="half of them"):
                async with place.stage(READ):
                    pass
        before = shop.resets
        async with place.stage(old_task(5, "reddit")):
            assert shop.resets == before + 1

    async def test_each_kind_of_site_shows_whether_it_is_as_it_was(self, sites):
        helpers = Helpers(read_addresses("", variables(sites)).sites, 5)
        assert [await helpers.mark(site) for site in sites] == [
            "1 orders, the newest is 000000001",
            "1 orders, the newest is 000000001",
            "the newest submission is 2",
            "project 1 was active last, at 2023-03-01 10:00:00",
        ]


class TestHelpers:
    async def test_reviews_and_a_shop_that_does_not_let_us_in(self, sites):
        helpers = Helpers(read_addresses("", variables(sites)).sites, 5)
        assert await helpers.call("func:shopping_get_sku_latest_review_author('B001')") == "Bert"
        assert await helpers.call("func:shopping_get_sku_latest_review_rating('B001')") == "40"
        assert await helpers.call("func:shopping_get_sku_latest_review_author('B003')") == ""
        address = Address("shopping", sites["shopping"].url)
        admin = Address("shopping_admin", sites["shopping"].url, (), "admin", "guessed")
        helpers = Helpers({"shopping": address, "shopping_admin": admin}, 5)
        with pytest.raises(ProbeError, match=r"could not be carried out: .*/token answers with 401"):
            await helpers.call("func:shopping_get_latest_order_url()")

    @pytest.mark.parametrize(
        "text",
        [
            *("func:__import__('os').system('true')", "func:nobody_knows_this()", "func:("),
            *("func:shopping_get_latest_order_url(1)", "func:shopping_get_latest_order_url('x')"),
            "func:shopping_get_sku_latest_review_author(open('/etc/passwd').read())",
        ],
    )
    async def test_nothing_is_executed(self, text):
        with pytest.raises(ProbeError):
            await Helpers({}, 1).call(text)

    def test_a_call_is_read(self):
        assert read_call("func:a('b')") == ("a", ["b"])


async def test_an_answer_that_never_ends_has_an_end():
    async def drip(reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.05)
        except OSError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        with pytest.raises(SiteError, match="not answered within 1 seconds"):
            await ask("GET", url, seconds=1)
