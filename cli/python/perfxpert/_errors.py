"""The exception every failed tool call raises."""

from __future__ import annotations

from typing import Any


class ToolError(Exception):
    """A tool refused its arguments or could not use its input.

    Attributes:
        tool: name of the tool.
        error: the server's error object: ``kind``, ``message``, ``hint`` and, by kind, ``field``, ``value``, ``known``,
            ``did_you_mean``, ``path``, ``missing``, ``command`` ...
    """

    def __init__(self, tool: str, error: "dict[str, Any]"):
        self.tool = tool
        self.error = error
        super().__init__(f"{tool}: {error.get('message', 'failed')} {error.get('hint', '')}".strip())

    @property
    def kind(self) -> str:
        """What went wrong, such as ``file_not_found`` or ``no_evidence``."""
        return str(self.error.get("kind", "internal"))
