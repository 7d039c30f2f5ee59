"""`webassay serve`: the sites in a person's own browser."""

from webassay.cli import common


async def serve_sites(port: int, world_seed: int, user: str) -> None:
    """Until Ctrl-C. Changes live as long as the command does; the next start is pristine again."""
    from webassay import catalog

    out = common.console()
    async with catalog.arena(common.cache_dir(), port=port) as arena:
        sites = list(catalog.SITES)
        logins = dict.fromkeys(sites, user) if user else {}
        async with arena.hold(sites, world_seed, logins=logins, label="demo") as stage:
            for site, base in stage.bases.items():
                out.print(f"{site}: [bold]{base}/[/bold]")
            for cookie in stage.cookies:
                out.print(f"log-in of {user}: cookie {cookie.name}={cookie.value}")
            out.print("Ctrl-C ends it; what you changed is gone then.")
            await arena.wait()
