"""Exceptions of the model side of an agent call, chosen by the ``sub_kind`` of the server's error object."""

from __future__ import annotations

from typing import Any, Optional

from .._errors import ToolError


class ProviderError(ToolError):
    """A model service failed.

    Attributes beside those of :class:`perfxpert.ToolError`:
        provider: name of the service, or None.
        model: the model asked for, or None.
        retry_after: seconds the service asked to wait, or None.
        attempts: one dict per service tried, in order.
    """

    @property
    def provider(self) -> Optional[str]:
        return self.error.get("provider")

    @property
    def model(self) -> Optional[str]:
        return self.error.get("model")

    @property
    def retry_after(self) -> Optional[float]:
        return self.error.get("retry_after_s")

    @property
    def attempts(self) -> "list[dict[str, Any]]":
        return self.error.get("attempts") or []


class AuthError(ProviderError):
    """The credential is missing or was refused."""


class RateLimitError(ProviderError):
    """Too many requests; see ``retry_after``."""


class QuotaExceededError(ProviderError):
    """The account has no credit left."""


class TransientError(ProviderError):
    """The service failed in a way that may pass."""


class TimeoutError(ProviderError):  # noqa: A001 - the published name
    """The service did not answer in time."""


class FatalError(ProviderError):
    """The request cannot succeed as it is."""


class UnknownProvider(ProviderError):
    """There is no service of that name; ``error["known"]`` lists them."""


class ProviderChainExhausted(ProviderError):
    """Every service of the fallback chain failed; see ``attempts``."""


_BY_SUB_KIND = {
    "auth": AuthError,
    "rate_limit": RateLimitError,
    "quota": QuotaExceededError,
    "transient": TransientError,
    "timeout": TimeoutError,
    "fatal": FatalError,
    "recursion": FatalError,
    "unknown_provider": UnknownProvider,
    "chain_exhausted": ProviderChainExhausted,
}


def from_error(tool: str, error: "dict[str, Any]") -> ProviderError:
    """The exception for an error object of kind ``provider``."""
    return _BY_SUB_KIND.get(error.get("sub_kind", ""), ProviderError)(tool, error)
