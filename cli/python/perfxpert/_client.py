"""The connection to the analysis server: one child process, newline-delimited JSON-RPC, one call at a time."""

from __future__ import annotations

import atexit
import collections
import json
import os
import queue
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from typing import Any, Callable, Optional

from ._errors import ToolError
from .providers import _exceptions

PROTOCOL_VERSION = "2025-06-18"
START_SECONDS = 10.0
_STDERR_LINES = 200
_END = object()


def find_program() -> str:
    """The ``perfxpert`` program: ``PERFXPERT_PROGRAM``, the environment this package is installed in, then PATH.

    Raises:
        FileNotFoundError: there is none.
    """
    named = os.environ.get("PERFXPERT_PROGRAM")
    if named:
        return named
    name = "perfxpert.exe" if os.name == "nt" else "perfxpert"
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    try:
        folders.append(sysconfig.get_path("scripts", f"{os.name}_user"))
    except KeyError:
        pass
    for folder in folders:
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError("the perfxpert program is neither in this Python environment nor on PATH")
    return found


class Client:
    """A running analysis server.

    Args:
        program: path of the program; found by :func:`find_program` when None.
        tool_seconds: longest time one tool may take on the server, 1..3600.

    Calls from several threads are answered one after the other. Use it as a context manager, or call :meth:`close`.
    """

    def __init__(self, program: Optional[str] = None, tool_seconds: int = 3600):
        environment = dict(os.environ)
        environment.setdefault("PERFXPERT_TOOL_TIMEOUT_S", str(tool_seconds))
        self._process = subprocess.Popen(
            [program or find_program(), "mcp", "--tool-names", "bare"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        self._lock = threading.Lock()
        self._next = 0
        self._lines: "queue.Queue[Any]" = queue.Queue()
        self._stderr: "collections.deque[str]" = collections.deque(maxlen=_STDERR_LINES)
        threading.Thread(target=self._read_answers, daemon=True).start()
        threading.Thread(target=self._read_stderr, daemon=True).start()
        try:
            self._request(
                "initialize",
                {
                    "protocolVersion": PROTOCOL_VERSION,
                    "capabilities": {},
                    "clientInfo": {"name": "perfxpert-python", "version": "1"},
                },
                START_SECONDS,
                None,
            )
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """Whether the server is still running."""
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the server: closes its input, waits a second, then stops it."""
        if self._process.stdin and not self._process.stdin.closed:
            try:
                self._process.stdin.close()
            except OSError:
                pass
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def tools(self) -> "list[dict[str, Any]]":
        """The tools as the server lists them: ``name``, ``title``, ``description``, ``inputSchema``, ``outputSchema``,
        ``annotations``."""
        return self._request("tools/list", {}, START_SECONDS, None)["tools"]

    def names(self) -> "list[str]":
        """Dotted names of all tools, such as ``arch.lookup_peaks``."""
        return self._request("perfxpert/registry", {}, START_SECONDS, None)["registry"]["tools"]

    def call(
        self,
        tool: str,
        arguments: "Optional[dict[str, Any]]" = None,
        *,
        timeout: Optional[float] = None,
        progress_callback: Optional[Callable[[str], None]] = None,
    ) -> "dict[str, Any]":
        """Calls a tool by any spelling of its name and returns its answer.

        Args:
            tool: ``arch.lookup_peaks``, ``arch_lookup_peaks`` or ``perfxpert_arch_lookup_peaks``.
            arguments: the argument object; None values are left out.
            timeout: seconds to wait for the answer; None waits as long as the server allows.
            progress_callback: called with the name of each phase; its exceptions are ignored.

        Raises:
            ToolError: the tool answered with an error object.
            perfxpert.providers.ProviderError: the same, of a model service (``AuthError``, ``RateLimitError`` ...).
            TimeoutError: (the built-in one) no answer within ``timeout``; the call is cancelled.
            ConnectionError: the server has gone.
        """
        sent = {key: value for key, value in (arguments or {}).items() if value is not None}
        result = self._request("tools/call", {"name": tool, "arguments": sent}, timeout, progress_callback)
        answer = result.get("structuredContent")
        if answer is None:
            answer = json.loads(result["content"][0]["text"])
        if result.get("isError"):
            error = answer.get("error", {})
            if error.get("kind") == "provider":
                raise _exceptions.from_error(tool, error)
            raise ToolError(tool, error)
        return answer

    def _request(
        self,
        method: str,
        params: "dict[str, Any]",
        timeout: Optional[float],
        progress: Optional[Callable[[str], None]],
    ) -> "dict[str, Any]":
        with self._lock:
            self._next += 1
            number = self._next
            if progress is not None:
                params = {**params, "_meta": {"progressToken": number}}
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            deadline = None if timeout is None else time.monotonic() + timeout
            last = None
            while True:
                message = self._receive(deadline, number, method)
                if message.get("method") == "notifications/progress" and progress is not None:
                    phase = message.get("params", {}).get("message")
                    mine = message.get("params", {}).get("progressToken") == number
                    if mine and phase is not None and phase != last:
                        last = phase
                        try:
                            progress(phase)
                        except Exception:  # noqa: BLE001 - a callback cannot change a result
                            pass
                if message.get("id") != number or "method" in message:
                    continue
                if "error" in message:
                    fault = message["error"]
                    raise ToolError(
                        params.get("name", method),
                        {"kind": "invalid_argument", "message": fault.get("message", "refused"), "hint": "", "code": fault.get("code")},
                    )
                return message["result"]

    def _receive(self, deadline: Optional[float], number: int, method: str) -> "dict[str, Any]":
        try:
            wait = None if deadline is None else max(0.0, deadline - time.monotonic())
            message = self._lines.get(timeout=wait)
        except queue.Empty:
            self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
            raise TimeoutError(f"no answer to {method} in time") from None
        if message is _END:
            self._lines.put(_END)
            said = next((line for line in reversed(self._stderr) if line.strip()), "")
            raise ConnectionError(f"the analysis server has ended{': ' + said if said else ''}")
        return message

    def _send(self, message: "dict[str, Any]") -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(line.encode("utf-8"))
            self._process.stdin.flush()
        except (OSError, ValueError):
            # The reader thread reports the end of the server with what it said last.
            pass

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict):
                self._lines.put(message)
        self._lines.put(_END)

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._stderr.append(line.decode("utf-8", "replace").rstrip())


_shared: Optional[Client] = None
_shared_lock = threading.Lock()


def shared() -> Client:
    """The client all of ``perfxpert.api`` and ``perfxpert.tools`` use; started on first use, again when it has ended."""
    global _shared
    with _shared_lock:
        if _shared is None or not _shared.alive:
            _shared = Client()
        return _shared


def close() -> None:
    """Ends the shared server, if it runs."""
    global _shared
    with _shared_lock:
        if _shared is not None:
            _shared.close()
            _shared = None


atexit.register(close)
