"""Paths: which ways there are to run a case (without torch), and in ``run/`` running a case along them."""

from exportdiff.core.path import Path as Path
from exportdiff.runtime.paths.catalog import (
    EXPENSIVE as EXPENSIVE,
)
from exportdiff.runtime.paths.catalog import (
    all_paths as all_paths,
)
from exportdiff.runtime.paths.catalog import (
    available_devices as available_devices,
)
from exportdiff.runtime.paths.catalog import (
    core_paths as core_paths,
)
from exportdiff.runtime.paths.catalog import (
    cost as cost,
)
from exportdiff.runtime.paths.catalog import (
    eager_key as eager_key,
)
from exportdiff.runtime.paths.catalog import (
    export_key as export_key,
)
from exportdiff.runtime.paths.catalog import (
    is_core as is_core,
)
from exportdiff.runtime.paths.catalog import (
    is_listed as is_listed,
)
from exportdiff.runtime.paths.catalog import (
    lacks as lacks,
)
from exportdiff.runtime.paths.catalog import (
    left_out as left_out,
)
from exportdiff.runtime.paths.catalog import (
    list_index as list_index,
)
from exportdiff.runtime.paths.catalog import (
    promise as promise,
)
from exportdiff.runtime.paths.catalog import (
    same_operators as same_operators,
)
from exportdiff.runtime.paths.catalog import (
    select_paths as select_paths,
)
from exportdiff.runtime.paths.modes import MODES as MODES
from exportdiff.runtime.paths.parsing import parse as parse
from exportdiff.runtime.paths.runners import RUNNERS as RUNNERS
