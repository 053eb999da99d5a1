"""The Python package against the server: keys, progress, errors, and every namespace.

Usage: python_package.py PACKAGE_FOLDER TRACE; PERFXPERT_PROGRAM names the program.
"""

import sys

sys.path.insert(0, sys.argv[1])
TRACE = sys.argv[2]

import perfxpert  # noqa: E402
from perfxpert import api  # noqa: E402
from perfxpert.providers import AuthError  # noqa: E402
from perfxpert.tools import interconnect  # noqa: E402
from perfxpert.tools.arch import lookup_peaks  # noqa: E402

phases = []
report = api.agent_root("Why is this slow?", database_path=TRACE, progress_callback=phases.append)
for key in ("narrative", "recommendations", "primary_bottleneck", "warnings", "metadata", "hotspots"):
    assert key in report, key
assert phases[0] == "entering root" and "exit root" in phases, phases
assert interconnect.lookup_peaks(gfx_id="gfx942")["achievable_gbps"] == 340.0
assert lookup_peaks(gfx_id="gfx942")["peak_fp32_tflops"] == 163.4
assert "Architecture" in lookup_peaks.__doc__

try:
    api.agent_root(database_path=TRACE + ".missing")
except perfxpert.ToolError as error:
    assert error.kind == "file_not_found", error.kind
else:
    raise AssertionError("a missing file was not refused")

try:
    api.agent_root(database_path=TRACE, provider="anthropic")
except AuthError as error:
    assert error.provider == "anthropic", error.error
else:
    raise AssertionError("a missing key was not refused")

import perfxpert.tools  # noqa: E402

functions = 0
for namespace in dir(perfxpert.tools):
    module = getattr(perfxpert.tools, namespace)
    functions += len(module.__all__)
assert functions == len(perfxpert.Client().tools())
print(f"python package: {functions} functions, {report['primary_bottleneck']}")
