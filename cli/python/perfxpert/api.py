"""The eight agents and the trace diff as functions.

Every function returns the tool's answer as a dict and raises :class:`perfxpert.ToolError` when the tool refuses, or an
exception of :mod:`perfxpert.providers` when a model service was asked for and failed. Without ``provider`` no model is
asked, whatever keys are set.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Union

from ._client import shared

Paths = Union[str, Sequence[str]]
Progress = Optional[Callable[[str], None]]

__all__ = [
    "agent_analysis",
    "agent_compute_specialist",
    "agent_correctness",
    "agent_diff_specialist",
    "agent_latency_specialist",
    "agent_memory_specialist",
    "agent_recommendation",
    "agent_root",
    "trace_diff_diff_runs",
]


def _options(options: "Optional[dict[str, Any]]", provider: Optional[str]) -> "Optional[dict[str, Any]]":
    # A program wants an exception where a person wants the deterministic report.
    if provider is None:
        return options
    return {"on_llm_failure": "error", **(options or {})}


def _paths(paths: "Optional[Paths]") -> Any:
    return paths if paths is None or isinstance(paths, str) else [str(path) for path in paths]


def agent_root(
    user_query: str = "Analyze this GPU performance trace.",
    *,
    database_path: "Optional[Paths]" = None,
    source_dir: Optional[str] = None,
    att_dir: Optional[str] = None,
    baseline_db: "Optional[Paths]" = None,
    provider: Optional[str] = None,
    model: Optional[str] = None,
    airgap: Optional[bool] = None,
    session_id: Optional[str] = None,
    options: "Optional[dict[str, Any]]" = None,
    timeout: Optional[float] = None,
    progress_callback: Progress = None,
) -> "dict[str, Any]":
    """The whole report for a question.

    Args:
        user_query: the question, at most 4,000 characters.
        database_path: one rocpd file or folder, or several; needed unless ``source_dir`` is given.
        source_dir: source tree to scan.
        att_dir: folder with thread-trace ``stats_*.csv`` files.
        baseline_db: earlier run to compare with.
        provider: model service that words the answer; None asks none.
        options: ``top_kernels`` (1..1000), ``min_duration_us``, ``detail`` ("brief" or "full"), ``counter_paths``, ...
        timeout: seconds to wait.
        progress_callback: called with "entering root", "exit root", ...

    Returns:
        The report: ``narrative`` (str), ``recommendations`` (list), ``primary_bottleneck`` (str), ``confidence`` (0..1),
        ``warnings`` (list of str), ``metadata``, ``time_breakdown`` (ns and percent), ``hotspots`` (durations in ns,
        shares in percent), ``memory_analysis`` (bytes, ns, 1e9 bytes/s), ``trace_health`` and more.
    """
    arguments = {
        "user_query": user_query,
        "database_path": _paths(database_path),
        "source_dir": source_dir,
        "att_dir": att_dir,
        "baseline_db": _paths(baseline_db),
        "provider": provider,
        "model": model,
        "airgap": airgap,
        "session_id": session_id,
        "options": _options(options, provider),
    }
    return shared().call("agent_root", arguments, timeout=timeout, progress_callback=progress_callback)


def _agent(
    name: str,
    input: "Optional[dict[str, Any]]",
    fields: "dict[str, Any]",
    provider: Optional[str],
    model: Optional[str],
    airgap: Optional[bool],
    session_id: Optional[str],
    options: "Optional[dict[str, Any]]",
    timeout: Optional[float],
    progress_callback: Progress,
) -> "dict[str, Any]":
    given = {key: value for key, value in {**(input or {}), **fields}.items() if value is not None}
    if "database_path" in given:
        given["database_path"] = _paths(given["database_path"])
    arguments = {
        "input": given,
        "provider": provider,
        "model": model,
        "airgap": airgap,
        "session_id": session_id,
        "options": _options(options, provider),
    }
    return shared().call(name, arguments, timeout=timeout, progress_callback=progress_callback)


def _specialist(name: str, summary: str, inputs: str, returns: str) -> "Callable[..., dict[str, Any]]":
    def call(
        input: "Optional[dict[str, Any]]" = None,
        *,
        provider: Optional[str] = None,
        model: Optional[str] = None,
        airgap: Optional[bool] = None,
        session_id: Optional[str] = None,
        options: "Optional[dict[str, Any]]" = None,
        timeout: Optional[float] = None,
        progress_callback: Progress = None,
        **fields: Any,
    ) -> "dict[str, Any]":
        return _agent(
            name, input, fields, provider, model, airgap, session_id, options, timeout, progress_callback
        )

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"{summary}\n\n    Args:\n        input: the input object; its fields may also be given as keywords: {inputs}\n"
        f"\n    Returns:\n        {returns}\n    "
    )
    return call


_TECHNIQUES = "``confidence`` (0..1), ``techniques`` (list, best first), ``citations`` (list of str), ``details``."

agent_analysis = _specialist(
    "agent_analysis",
    "What limits the run.",
    "``database_path``, ``top_kernels`` (1..1000), ``min_duration_us``, ``att_dir``, ``gfx_id``, ``source_dir``, "
    "``gpu_monitor_log``.",
    "``primary_bottleneck``, ``confidence`` (0..1), ``counter_data_available``, ``time_breakdown`` (percent and ns), "
    "``hot_kernels`` (list), ``details``.",
)
agent_recommendation = _specialist(
    "agent_recommendation",
    "Ranked things to do.",
    "``findings`` (an answer of agent_analysis) and/or ``database_path``, ``kernel_filter``, ``edit_history``, "
    "``seen_recommendation_hashes``, ``max_recommendations`` (1..20) ...",
    "``specialist_used``, ``plateau_detected``, ``empty_reason``, ``recommendations`` (list), ``details``.",
)
agent_correctness = _specialist(
    "agent_correctness",
    "Tells a gate verdict and the next action.",
    "``gate_verdict`` (required), ``kernel_name``, ``last_technique``, ``edit_history``, ``database_path`` ...",
    "``verdict``, ``action``, ``narrative``, ``alternative_technique``, ``follow_up_task_id``, ``details``.",
)
agent_compute_specialist = _specialist(
    "agent_compute_specialist",
    "Techniques for compute-limited kernels.",
    "one of ``hot_kernels``, ``database_path``, ``findings``; ``gfx_id``, ``counter_data``, ``source_hints`` ...",
    _TECHNIQUES,
)
agent_memory_specialist = _specialist(
    "agent_memory_specialist",
    "Techniques for memory- and copy-limited runs.",
    "one of ``hot_kernels``, ``database_path``, ``findings``; ``gfx_id``, ``memcpy_data``, ``counter_data`` ...",
    _TECHNIQUES,
)
agent_latency_specialist = _specialist(
    "agent_latency_specialist",
    "Techniques for launch, synchronisation, idle and communication time.",
    "one of ``hot_kernels``, ``database_path``, ``findings``; ``api_overhead_pct`` (percent), "
    "``avg_kernel_duration_us`` ...",
    _TECHNIQUES,
)


def agent_diff_specialist(
    baseline_db: str,
    new_db: str,
    *,
    top_kernels: int = 20,
    user_intent: Optional[str] = None,
    provider: Optional[str] = None,
    model: Optional[str] = None,
    airgap: Optional[bool] = None,
    session_id: Optional[str] = None,
    options: "Optional[dict[str, Any]]" = None,
    timeout: Optional[float] = None,
    progress_callback: Progress = None,
) -> "dict[str, Any]":
    """Verdict on two runs.

    Returns:
        ``verdict`` (improved, regressed, neutral, inconclusive), ``wall_delta_pct`` (percent or None), ``confidence``
        (0..1), ``narrative``, ``regressions`` and ``improvements`` (rows in ns and percent), ``details``.
    """
    arguments = {
        "baseline_db": baseline_db,
        "new_db": new_db,
        "top_kernels": top_kernels,
        "user_intent": user_intent,
        "provider": provider,
        "model": model,
        "airgap": airgap,
        "session_id": session_id,
        "options": _options(options, provider),
    }
    return shared().call("agent_diff_specialist", arguments, timeout=timeout, progress_callback=progress_callback)


def trace_diff_diff_runs(
    baseline_db: str,
    new_db: str,
    *,
    top_kernels: int = 20,
    timeout: Optional[float] = None,
    progress_callback: Progress = None,
    **options: Any,
) -> "dict[str, Any]":
    """Structured diff of two traces, decided on elapsed time.

    Args:
        top_kernels: rows of ``per_kernel``, 0..500.
        options: ``threshold_pct``, ``kernel_threshold_pct``, ``hot_coverage_pct`` (all percent), ``baseline_runs``,
            ``new_runs`` (lists of path), ``allow_partial``, ``gate``.

    Returns:
        The diff document: ``verdict``, ``wall_delta_pct`` (percent), ``kernel_time_delta_pct``, ``per_kernel``,
        ``primary_regressions``, ``primary_improvements``, ``comparability``, ``narrative`` and more; times in ns.
    """
    arguments = {"baseline_db": baseline_db, "new_db": new_db, "top_kernels": top_kernels, **options}
    return shared().call("trace_diff_diff_runs", arguments, timeout=timeout, progress_callback=progress_callback)
