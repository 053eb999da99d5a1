"""Every tool as ``perfxpert.tools.<namespace>.<function>``.

The modules are made from the server's own list, so they never differ from it::

    from perfxpert.tools.arch import lookup_peaks
    lookup_peaks(gfx_id="gfx942")["peak_fp32_tflops"]

A function takes the tool's arguments as keywords (``help()`` shows type, unit and default of each), besides ``timeout``
(seconds) and ``progress_callback``, and returns the answer as a dict.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import inspect
import sys
import types
from typing import Any, Callable, Optional

from .._client import shared

_listed: "Optional[dict[str, dict[str, dict[str, Any]]]]" = None


def _tools() -> "dict[str, dict[str, dict[str, Any]]]":
    """Namespace to function to tool, from the server's list."""
    global _listed
    if _listed is None:
        listed: "dict[str, dict[str, dict[str, Any]]]" = {}
        dotted = {name.replace(".", "_"): name for name in shared().names()}
        for tool in shared().tools():
            namespace, function = dotted[tool["name"]].split(".", 1)
            listed.setdefault(namespace, {})[function] = tool
        _listed = listed
    return _listed


def _described(tool: "dict[str, Any]") -> str:
    schema = tool["inputSchema"]
    required = schema.get("required", [])
    lines = [tool["description"], "", "Args:"]
    for name, field in schema.get("properties", {}).items():
        notes = [field.get("type", "any"), "required" if name in required else "optional"]
        if "default" in field:
            notes.append(f"default {field['default']!r}")
        lines.append(f"    {name} ({', '.join(notes)}): {field.get('description', '')}")
    lines += ["", "Returns:"]
    for name, field in tool.get("outputSchema", {}).get("properties", {}).items():
        if name != "error":
            lines.append(f"    {name} ({field.get('type', 'any')}): {field.get('description', '')}")
    lines.append("    Keys that can be None are not listed; see the tool reference.")
    return "\n".join(lines)


def _function(name: str, tool: "dict[str, Any]") -> "Callable[..., dict[str, Any]]":
    called = tool["name"]

    def call(*, timeout: Optional[float] = None, progress_callback: Any = None, **arguments: Any) -> "dict[str, Any]":
        return shared().call(called, arguments, timeout=timeout, progress_callback=progress_callback)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = _described(tool)
    keyword = inspect.Parameter.KEYWORD_ONLY
    required = tool["inputSchema"].get("required", [])
    fields = tool["inputSchema"].get("properties", {})
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(field, keyword, default=inspect.Parameter.empty if field in required else None)
            for field in fields
        ]
        + [inspect.Parameter(extra, keyword, default=None) for extra in ("timeout", "progress_callback")]
    )
    return call


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes the module of a namespace when it is imported."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        parent, _, namespace = fullname.rpartition(".")
        if parent != __name__ or namespace.startswith("_") or namespace not in _tools():
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: Any) -> types.ModuleType:
        return types.ModuleType(spec.name, f"Tools of the namespace {spec.name.rpartition('.')[2]}.")

    def exec_module(self, module: types.ModuleType) -> None:
        functions = _tools()[module.__name__.rpartition(".")[2]]
        for name, tool in functions.items():
            setattr(module, name, _function(name, tool))
        module.__all__ = sorted(functions)  # type: ignore[attr-defined]


sys.meta_path.append(_Finder())


def __getattr__(namespace: str) -> types.ModuleType:
    if not namespace.startswith("_") and namespace in _tools():
        return importlib.import_module(f"{__name__}.{namespace}")
    raise AttributeError(f"there is no namespace {namespace!r}; there are {', '.join(sorted(_tools()))}")


def __dir__() -> "list[str]":
    return sorted(_tools())
