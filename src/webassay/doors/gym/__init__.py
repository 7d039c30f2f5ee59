"""A gymnasium environment over arena tasks. Needs the extra `gym`.

    import gymnasium
    import webassay.doors.gym

    env = gymnasium.make("webassay/arena-v0", templates=("shop.low-reviews",))
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step("click('12')")

Importing this module registers the environment.
`gymnasium.make("webassay.doors.gym:webassay/arena-v0")` does both at once.
"""

import gymnasium

from webassay.doors.gym.env import Settings, WebassayEnv

__all__ = ["ID", "Settings", "WebassayEnv", "register"]

ID = "webassay/arena-v0"


def register() -> None:
    """Makes the environment known to gymnasium; more than once does no harm."""
    if ID not in gymnasium.registry:
        gymnasium.register(ID, entry_point="webassay.doors.gym.env:WebassayEnv")


register()
