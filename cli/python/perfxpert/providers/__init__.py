"""What can go wrong with a language model; the exceptions are in :mod:`perfxpert.providers._exceptions`."""

from ._exceptions import (
    AuthError,
    FatalError,
    ProviderChainExhausted,
    ProviderError,
    QuotaExceededError,
    RateLimitError,
    TimeoutError,
    TransientError,
    UnknownProvider,
)

__all__ = [
    "AuthError",
    "FatalError",
    "ProviderChainExhausted",
    "ProviderError",
    "QuotaExceededError",
    "RateLimitError",
    "TimeoutError",
    "TransientError",
    "UnknownProvider",
]
