"""How Hypothesis draws in these tests: one profile for people, one for CI, one for the nightly run.

``HYPOTHESIS_PROFILE`` or ``--hypothesis-profile`` names the profile; without them it is ``ci`` where the
variable ``CI`` is set, and ``dev`` elsewhere. ``EXAMPLE_DATABASE`` says where failing examples are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import (
    DirectoryBasedExampleDatabase,
    ExampleDatabase,
    GitHubArtifactDatabase,
    MultiplexedDatabase,
    ReadOnlyDatabase,
)
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

if TYPE_CHECKING:
    from collections.abc import Mapping

PROFILES = ("dev", "ci", "nightly")
USUAL = 100
"""Examples of a property in ``dev`` and ``ci``, where its test names no other number."""
TIMES = 10
"""How many times as many the nightly run draws."""
DEV_SEED = "0"
"""What ``dev`` begins with; ``--hypothesis-seed=N`` draws other examples."""
FOLDER = ".hypothesis/examples"
"""The database that is not shared; relative to the folder of the test run."""


def configure(config: pytest.Config, environment: Mapping[str, str]) -> None:
    """Register the profiles, and load the one of this test run. Raises pytest.UsageError."""
    draw_no_constants_of_modules()
    register(environment)
    load(config, environment)


def register(environment: Mapping[str, str]) -> None:
    """Register the profiles. Raises pytest.UsageError for an EXAMPLE_DATABASE that means nothing."""
    plain = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=USUAL)
    # Tests must not depend on chance. With a fixed seed (see load), Hypothesis keeps no examples.
    settings.register_profile("dev", plain, derandomize=False, database=None)
    settings.register_profile("ci", plain, derandomize=True, database=None, print_blob=True)
    kept = database(environment.get("EXAMPLE_DATABASE", ""))
    more = USUAL * TIMES
    settings.register_profile(
        "nightly", plain, derandomize=False, max_examples=more, database=kept, print_blob=True
    )


def draw_no_constants_of_modules() -> None:
    """Keep Hypothesis from drawing numbers and texts that it reads in the modules that are loaded.

    Which these are depends on the tests that this worker has run before, and so on the other workers.
    """
    none = Constants()
    providers._get_local_constants = lambda: none


def load(config: pytest.Config, environment: Mapping[str, str]) -> None:
    """Load the profile that the environment names, unless an option does. Raises pytest.UsageError."""
    name = environment.get("HYPOTHESIS_PROFILE") or default_profile(environment)
    if name not in PROFILES:
        known = ", ".join(PROFILES)
        raise pytest.UsageError(f"HYPOTHESIS_PROFILE={name}: there is no such profile; there are {known}")
    settings.load_profile(name)
    chosen = config.getoption("--hypothesis-profile") or name
    if chosen == "dev" and config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = DEV_SEED


def default_profile(environment: Mapping[str, str]) -> str:
    """Return ``ci`` where CI systems set ``CI``, and ``dev`` elsewhere."""
    return "ci" if environment.get("CI", "").lower() not in ("", "0", "false") else "dev"


def examples(usual: int) -> int:
    """Return how many examples a test draws that needs ``usual`` of them in ``dev`` and ``ci``."""
    return usual * settings().max_examples // USUAL


def database(written: str) -> ExampleDatabase:
    """Read ``EXAMPLE_DATABASE``: empty, ``redis://HOST…`` or ``github:OWNER/NAME``. Raises pytest.UsageError.

    Of GitHub it only reads (the artifact that the nightly job uploads); new failures stay on this machine.
    """
    local = DirectoryBasedExampleDatabase(FOLDER)
    if not written:
        return local
    if written.startswith(("redis://", "rediss://")):
        try:
            import redis
            from hypothesis.extra.redis import RedisExampleDatabase
        except ImportError:
            raise pytest.UsageError(f"EXAMPLE_DATABASE={written} needs redis: pip install redis") from None
        return RedisExampleDatabase(redis.Redis.from_url(written))
    owner, slash, name = written.removeprefix("github:").partition("/")
    if not written.startswith("github:") or not (owner and slash and name):
        raise pytest.UsageError(f"EXAMPLE_DATABASE={written}: write redis://HOST or github:OWNER/NAME")
    return MultiplexedDatabase(local, ReadOnlyDatabase(GitHubArtifactDatabase(owner, name)))
