"""Triton and Numba kernels: @triton.jit in a docstring is text."""
import triton
import triton.language as tl
from triton import jit as compiled
from numba import cuda


@triton.jit
def add_kernel(x, y, n, BLOCK: tl.constexpr):  #: def add_kernel
    tl.store(x, tl.load(y))
    tl.atomic_add(x, 1)


@triton.autotune(configs=[], key=["n"])
@triton.heuristics({})
@triton.jit
def tuned(x):  #: def tuned
    pass


@compiled
def aliased(x):  #: def aliased
    pass


@cuda.jit
def numba_kernel(x):  #: def numba_kernel
    pass


@cuda.jit("void(int32)", device=True)
def numba_helper(x):
    pass


@other.jit
def no_kernel(x):
    pass


TEXT = """
@triton.jit
def in_text(x): pass
in_text[(1,)](x)
"""
