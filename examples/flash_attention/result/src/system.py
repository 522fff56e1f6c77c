"""The system of the paper (§3.1, Algorithm 1, Appendix B.3, Algorithm 2, Appendix B.4, Algorithm 4).

All functions are for one head of one sequence; "on chip" and "HBM" of the boxes are slices of arrays here. No kernel is written,
so nothing below decides what a device keeps in fast memory.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from src.utils import Config


def block_sizes(d: int, config: Config) -> tuple[int, int]:
    """Rows of a block of K and V, and of Q and O (§3.1, Algorithm 1, printed line 1).

    [PARTIALLY_SPECIFIED] block sizes: §3.1, Algorithm 1 — "Set block sizes 𝐵𝑐 = ⌈ 𝑀 4𝑑 ⌉ , 𝐵𝑟 = min (⌈ 𝑀 4𝑑 ⌉ , 𝑑) .";
      open: rounded up, four blocks may need more than M, and the box does not say what then
      Using: ceilings, as printed: B_c = ceil(M / 4d), B_r = min(ceil(M / 4d), d)
      Alternatives: floors, with which four blocks never exceed M

    Takes d: int. The size M of fast memory, in numbers, is in the configuration.
    Gives B_c: int; B_r: int.
    """
    B_c = math.ceil(config.attention.M / (config.attention.blocks_in_sram * d))
    B_r = min(B_c, d)
    return B_c, B_r


def masked(S: jax.Array, mask: jax.Array) -> jax.Array:
    """Scores (B_r, B_c) with minus infinity where mask (B_r, B_c) is False.

    [ASSUMPTION] form of the mask: a boolean array with a row for each query and a column for each key, True where the score
      is kept
      Reason: our choice: the paper has a masking function without arguments beyond the block; a full array is simple and
      costs the memory that the algorithm saves
    """
    # Appendix B.3 — "mask is some masking function that sets some entries of the input to −∞ and keep other entries the same"
    return jnp.where(mask, S, -jnp.inf)  # (B_r, B_c)


def finite(m: jax.Array) -> jax.Array:
    """Maxima (B_r,) with 0 in place of minus infinity, so that exp(−∞ − m) is 0.

    [ASSUMPTION] rows of a block that are hidden wholly: a maximum of minus infinity is replaced by 0 before it is subtracted,
      and a sum of 0 by 1 before it divides, so that such a row adds nothing and ends as 0
      Reason: our choice: printed as it stands the difference of two infinities is not a number as soon as the first block of
      a row is hidden, while the masking function is said to set entries to minus infinity
    """
    return jnp.where(jnp.isneginf(m), 0.0, m)  # (B_r,)


def positive(l: jax.Array) -> jax.Array:
    """Sums (B_r,) with 1 in place of 0: the other half of the [ASSUMPTION] of finite, rows that are hidden wholly.

      Reason: our choice: 0 over 1 is the output 0 of a row that has seen nothing
    """
    return jnp.where(l == 0.0, 1.0, l)  # (B_r,)


def flash_attention_forward(
    Q: jax.Array, K: jax.Array, V: jax.Array, tau: float, mask: jax.Array, config: Config
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """softmax(mask(τQKᵀ))V block by block (Appendix B.3, Algorithm 2 without dropout; with tau = 1 and a mask that is True
    everywhere it is §3.1, Algorithm 1).

    §3.1, Theorem 1 — "Algorithm 1 returns O = softmax(QK⊤)V with 𝑂(𝑁^{2}𝑑) FLOPs and requires 𝑂(𝑁) additional memory beyond
      inputs and output."

    [PARTIALLY_SPECIFIED] scaling of the scores: Appendix B.3 — "where 𝜏 ∈ R is some softmax scaling (typically 1 √ 𝑑 ), mask is
      some masking function that sets some entries of the input to −∞ and keep other entries the same"; open: the value is
      called typical and is not fixed; Algorithm 1 has no scaling at all
      Using: an argument tau without a default, so that 1 gives Algorithm 1
      Alternatives: one over the root of d, always; 1, always

    [UNSPECIFIED] how the loops are expressed
      Using: Python loops over fixed slices, unrolled when traced
      Reason: our choice: the paper's loops are those of a CUDA kernel; unrolled slices read line by line like the box
      and allow a shorter last block
      Alternatives: jax.lax.fori_loop over padded blocks; a Pallas kernel

    [UNSPECIFIED] precision
      Using: the type of Q for everything, float32 unless the caller enables more
      Reason: our choice: the sweep's sentences speak of mixed precision in training runs and of bytes moved; no
      sentence gives the type of the output or of the statistics inside the loops
      Alternatives: float16 inputs with float32 statistics and output; bfloat16 inputs with float32 statistics

    [ASSUMPTION] heads: one head of one sequence; the caller maps over batch and heads
      Reason: our choice: all boxes are written for matrices of N by d; §3.2, Appendix E.4, Appendix E.5 and Appendix E.6 give
      numbers of heads of benchmarks and of other people's models

    Takes Q: (N, d); K: (N, d); V: (N, d); tau: scalar; mask: (N, N) bool.
    Gives O: (N, d); l: (N,); m: (N,).
    Axes: row maximum and row sum over the keys of a block.
    """
    N, d = Q.shape
    assert K.shape == V.shape == (N, d) and mask.shape == (N, N)
    precision = config.attention.precision
    B_c, B_r = block_sizes(d, config)

    # §3.1, Algorithm 1 — "Initialize O = (0)𝑁 ×𝑑 ∈ R𝑁 ×𝑑, ℓ = (0)𝑁 ∈ R𝑁, 𝑚 = (−∞)𝑁 ∈ R𝑁 in HBM."
    O = jnp.zeros((N, d), Q.dtype)  # (N, d)
    l = jnp.zeros((N,), Q.dtype)  # (N,)
    m = jnp.full((N,), -jnp.inf, Q.dtype)  # (N,)

    # §3.1, Algorithm 1 — "Divide Q into 𝑇𝑟 = ⌈ 𝑁 𝐵𝑟 ⌉ blocks Q1, . . . , Q𝑇𝑟 of size 𝐵𝑟 × 𝑑 each, and divide K, V in to 𝑇𝑐
    #   = ⌈ 𝑁 𝐵𝑐 ⌉ blocks K1, . . . , K𝑇𝑐 and V1, . . . , V𝑇𝑐 , of size 𝐵𝑐 × 𝑑 each."
    # [ASSUMPTION] last block when N is no multiple of the block size: the last block is shorter
    #   Reason: our choice: the numbers of blocks are rounded up, so a last block with fewer rows is implied, while every block
    #   is printed as being of full size
    T_r, T_c = math.ceil(N / B_r), math.ceil(N / B_c)

    # §1, Figure 1 — "In the outer loop (red arrows), FlashAttention loops through blocks of the K and V matrices and loads
    #   them to fast on-chip SRAM."
    for j in range(T_c):
        columns = slice(j * B_c, (j + 1) * B_c)
        K_j, V_j = K[columns], V[columns]  # (B_c, d)
        for i in range(T_r):
            rows = slice(i * B_r, (i + 1) * B_r)
            Q_i, O_i, l_i, m_i = Q[rows], O[rows], l[rows], m[rows]  # (B_r, d), (B_r, d), (B_r,), (B_r,)
            # Appendix B.3, Algorithm 2 — "On chip, compute S𝑖 𝑗 = 𝜏Q𝑖K𝑇 𝑗 ∈ R𝐵𝑟×𝐵𝑐 ."
            S = masked(tau * jnp.matmul(Q_i, K_j.T, precision=precision), mask[rows, columns])  # (B_r, B_c)
            # Appendix B.3, Algorithm 2 — "On chip, compute 𝑚̃𝑖 𝑗 = rowmax(Smasked 𝑖 𝑗 ) ∈ R𝐵𝑟 , P̃𝑖 𝑗 = exp(Smasked
            #   𝑖 𝑗 − 𝑚̃𝑖 𝑗) ∈ R𝐵𝑟×𝐵𝑐 (pointwise), ℓ̃𝑖 𝑗 = rowsum(P̃𝑖 𝑗) ∈ R𝐵𝑟 ."
            # §2.2 — "where softmax is applied row-wise."
            m_block = jnp.max(S, axis=1)  # (B_r,)
            P_block = jnp.exp(S - finite(m_block)[:, None])  # (B_r, B_c)
            l_block = jnp.sum(P_block, axis=1)  # (B_r,)
            # §3.1, Algorithm 1 — "On chip, compute 𝑚new 𝑖 = max(𝑚𝑖, 𝑚̃𝑖 𝑗) ∈ R𝐵𝑟 , ℓnew 𝑖 = 𝑒𝑚𝑖−𝑚new 𝑖 ℓ𝑖 + 𝑒𝑚̃𝑖
            #   𝑗−𝑚new 𝑖 ℓ̃𝑖 𝑗 ∈ R𝐵𝑟 ."
            m_new = jnp.maximum(m_i, m_block)  # (B_r,)
            old = jnp.exp(m_i - finite(m_new))  # (B_r,)
            new = jnp.exp(m_block - finite(m_new))  # (B_r,)
            l_new = old * l_i + new * l_block  # (B_r,)
            # §3.1, Algorithm 1 — "Write O𝑖 ← diag(ℓnew 𝑖 )^{−1} (diag(ℓ𝑖)𝑒𝑚𝑖−𝑚new 𝑖 O𝑖 + 𝑒𝑚̃𝑖 𝑗−𝑚new 𝑖 P̃𝑖 𝑗V𝑗) to HBM."
            # [ASSUMPTION] what the factor with the exponential multiplies: each row of the block by the exponential of its own
            #   difference, as if the exponential stood within diag
            #   Reason: our choice: the box multiplies a vector of B_r entries with a block of B_r by d without
            #   diag; only a factor
            #   for each row gives the softmax
            PV = jnp.matmul(P_block, V_j, precision=precision)  # (B_r, d)
            O_new = ((l_i * old)[:, None] * O_i + new[:, None] * PV) / positive(l_new)[:, None]  # (B_r, d)
            O, l, m = O.at[rows].set(O_new), l.at[rows].set(l_new), m.at[rows].set(m_new)  # (N, d), (N,), (N,)
    # Appendix B.3 — "We save the output O, the softmax statistics ℓ and 𝑚, and the pseudo-random number generator state R
    #   for the backward pass."
    return O, l, m


def flash_attention_backward(
    Q: jax.Array,
    K: jax.Array,
    V: jax.Array,
    O: jax.Array,
    dO: jax.Array,
    l: jax.Array,
    m: jax.Array,
    tau: float,
    mask: jax.Array,
    config: Config,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Gradients of a scalar with respect to Q, K and V, from its gradient dO with respect to O (Appendix B.4, Algorithm 4 without
    dropout; by blocks Appendix B.2, Eq. 3, Eq. 4, Eq. 5, Eq. 6).

    [ASSUMPTION] how the backward pass is reached: a function of its own that the caller calls
      Reason: our choice: Algorithm 4 is a procedure with stated inputs; registering it is a matter of the framework
      Alternatives: registered as the derivative of the forward pass with jax.custom_vjp

    Takes Q: (N, d); K: (N, d); V: (N, d); O: (N, d); dO: (N, d); l: (N,); m: (N,); tau: scalar; mask: (N, N) bool.
    Gives dQ: (N, d); dK: (N, d); dV: (N, d).
    Axes: row sum of dO and O over d; sum over queries for dK and dV, over keys for dQ.
    """
    N, d = Q.shape
    assert K.shape == V.shape == O.shape == dO.shape == (N, d) and l.shape == m.shape == (N,) and mask.shape == (N, N)
    precision = config.attention.precision
    B_c, B_r = block_sizes(d, config)
    T_r, T_c = math.ceil(N / B_r), math.ceil(N / B_c)
    dQ, dK, dV = jnp.zeros_like(Q), jnp.zeros_like(K), jnp.zeros_like(V)  # (N, d)
    for j in range(T_c):
        columns = slice(j * B_c, (j + 1) * B_c)
        K_j, V_j = K[columns], V[columns]  # (B_c, d)
        # Appendix B.4, Algorithm 4 — "Initialize dK̃𝑗 = (0)𝐵𝑐×𝑑, dṼ𝑗 = (0)𝐵𝑐×𝑑 on SRAM."
        dK_j, dV_j = jnp.zeros_like(K_j), jnp.zeros_like(V_j)  # (B_c, d)
        for i in range(T_r):
            rows = slice(i * B_r, (i + 1) * B_r)
            Q_i, O_i, dO_i, l_i, m_i = Q[rows], O[rows], dO[rows], l[rows], m[rows]  # (B_r, d) three times, (B_r,), (B_r,)
            S = masked(tau * jnp.matmul(Q_i, K_j.T, precision=precision), mask[rows, columns])  # (B_r, B_c)
            # Appendix B.4, Algorithm 4 — "On chip, compute P𝑖 𝑗 = diag(𝑙𝑖)^{−1} exp(Smasked 𝑖 𝑗 − 𝑚𝑖) ∈ R𝐵𝑟×𝐵𝑐 ."
            P = jnp.exp(S - finite(m_i)[:, None]) / positive(l_i)[:, None]  # (B_r, B_c)
            # Appendix B.4, Algorithm 4 — "On chip, compute dṼ𝑗 ← dṼ𝑗 + (Pdropped 𝑖 𝑗 )⊤dO𝑖 ∈ R𝐵𝑐×𝑑."
            dV_j = dV_j + jnp.matmul(P.T, dO_i, precision=precision)  # (B_c, d)
            # Appendix B.4, Algorithm 4 — "On chip, compute dPdropped 𝑖 𝑗 = dO𝑖V⊤ 𝑗 ∈ R𝐵𝑟×𝐵𝑐 ."
            dP = jnp.matmul(dO_i, V_j.T, precision=precision)  # (B_r, B_c)
            # Appendix B.4, Algorithm 4 — "On chip, compute 𝐷𝑖 = rowsum(dO𝑖 ◦ O𝑖) ∈ R𝐵𝑟 ."
            D = jnp.sum(dO_i * O_i, axis=1)  # (B_r,)
            # Appendix B.4, Algorithm 4 — "On chip, compute dS𝑖 𝑗 = P𝑖 𝑗 ◦ (dP𝑖 𝑗 − 𝐷𝑖) ∈ R𝐵𝑟×𝐵𝑐 ."
            dS = P * (dP - D[:, None])  # (B_r, B_c)
            # Appendix B.4, Algorithm 4 — "Write dQ𝑖 ← dQ𝑖 + 𝜏dS𝑖 𝑗K𝑗 ∈ R𝐵𝑟×𝑑 to HBM."
            dQ = dQ.at[rows].add(tau * jnp.matmul(dS, K_j, precision=precision))  # (N, d)
            # Appendix B.4, Algorithm 4 — "On chip, compute dK̃𝑗 ← dK̃𝑗 + 𝜏dS⊤ 𝑖 𝑗Q𝑖 ∈ R𝐵𝑐×𝑑."
            dK_j = dK_j + tau * jnp.matmul(dS.T, Q_i, precision=precision)  # (B_c, d)
        dK, dV = dK.at[columns].set(dK_j), dV.at[columns].set(dV_j)  # (N, d), (N, d)
    return dQ, dK, dV
