"""Client of the perfxpert analysis server: why a GPU program on AMD ROCm is slow, and what to do about it.

``perfxpert.api`` has the eight agents and the trace diff, ``perfxpert.tools.<namespace>.<function>`` every other tool.
All of them start the ``perfxpert`` program once per process and talk to it over a pipe; nothing else is needed.
"""

from importlib import metadata as _metadata

from ._client import Client, ToolError, close
from .providers._exceptions import ProviderError

__all__ = ["Client", "ProviderError", "ToolError", "close", "__version__"]

try:
    __version__ = _metadata.version("perfxpert")
except _metadata.PackageNotFoundError:
    __version__ = "0+unknown"
