"""A gymnasium environment over arena tasks. Needs the extra `gym`.

    import gymnasium
    import webassay.doors.gym

    env = gymnasium.make("webassay/arena-v0", templates=("shop.low-reviews",))
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step("click('12')")

Importing this module registers the environment.
`gymnasium.make("webassay.doors.gym:webassay/arena-v0")` does both at once.
"""

from webassay.play.door import Door

try:
    import gymnasium
except ModuleNotFoundError:  # Nobody is there to open this door, but the list of doors still names it.
    gymnasium = None  # type: ignore[assignment]

__all__ = ["GYM", "ID", "register"]

GYM = Door("gym", "Arena tasks as a gymnasium environment", module="webassay.doors.gym", extra="webassay[gym]")

ID = "webassay/arena-v0"


def register() -> None:
    """Makes the environment known to gymnasium; more than once does no harm."""
    if ID not in gymnasium.registry:
        gymnasium.register(ID, entry_point="webassay.doors.gym.env:WebassayEnv")


if gymnasium is not None:
    register()
