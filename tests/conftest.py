"""Hypothesis profiles, and the helpers beside the tests made importable.

`ci` (the default) draws the same examples every time; `HYPOTHESIS_PROFILE=long` draws many new ones.
"""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True, database=None)
settings.register_profile("long", max_examples=3000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
