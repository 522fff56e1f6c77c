"""The inference algorithm of the paper (§3.1, §3.2, §3.3.1, Algorithm 1, §4.1.2, §3.4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from src.utils import Config

# Algorithm 1 — "$\bm{D_{\theta}}:$ Denoising model which outputs the velocity.": states (batch, dim) and times (batch,) to (batch, dim)
Velocity = Callable[[np.ndarray, np.ndarray], np.ndarray]


def uniform_times(N: int) -> np.ndarray:
    r"""§3.1, Eq. 5

    §3.1, Eq. 5 — t_i = \frac{i}{N} \quad where\ i = 0 \ldots N

    [PARTIALLY_SPECIFIED] noise-schedule: §4.1.1 — "We test three established noise schedules as teacher
      configurations:"; open: which of the three a user should start from, and the formula of the flow matching one
      Using: the uniform times of Eq. 5, with times between 0 for data and 1 for noise
      Reason: our choice: Eq. 5 is the schedule for which the paper prints a complete formula with its ends
      Alternatives: the EDM times of Eq. 6; shifted times

    Takes N: int.
    Gives t: (N + 1,).
    """
    # Eq. 5 — i/N for i = 0 … N; time 0 is data, time 1 is noise
    return np.arange(N + 1, dtype=np.float64) / N  # (N + 1,)


def denoise_step(
    x: np.ndarray, v: np.ndarray, t_from: float | np.ndarray, t_to: float | np.ndarray
) -> np.ndarray:
    r"""§3.2, Eq. 7

    §3.2, Eq. 7 — \mathcal{F}(\bm{x_i}, \bm{v_\theta}, \{t_i,t_j\}) = \bm{x_i} + \bm{v_\theta} (t_j - t_i)

    Takes x: (batch, dim); v: (batch, dim); t_from: scalar; t_to: scalar.
    Gives out: (batch, dim).
    """
    # Eq. 7 — x_i + v_θ(t_j − t_i)
    return x + v * (t_to - t_from)  # (batch, dim)


def sample_trajectory(
    D: Velocity, x_T: np.ndarray, times: np.ndarray, config: Config, S: np.ndarray | None = None
) -> np.ndarray:
    r"""§3.1, Eq. 4

    §3.1, Eq. 4 — \bm{x_{0}}= \bm{x_{T}}+ \sum_{i=N}^{1}\bm{v_{\theta,i}} (t_{i-1} - t_{i})

    §4 — "To ensure consistent parameterization across different implementations, we adopt the velocity prediction
      paradigm from Flow Matching(FM)[?, ?] as our unified inference target."

    §3.1 — "Therefore, this paper mainly focuses on the ODE solvers that follows:"

    [PARTIALLY_SPECIFIED] direction of a step: §3.1 — "For simplicity, we use $\bm{v_{\theta}}$ to represent the
      direction strategy."; open: which direction strategy; Algorithm 1 evaluates the model once, at the start of a step
      Using: the velocity of the model at the start of the step, the first-order solver
      Reason: our choice: line 3 and 7 of Algorithm 1 take the output of the model as it is
      Alternatives: the mean of two velocities; multistep solvers

    [PARTIALLY_SPECIFIED] where the calibration acts: §3.4 — "To address this, we propose a per-step affine
      transformation that aligns student outputs with teacher amplitude characteristics."; open: at which state of a
      step it acts, the first and the last among them; affine, yet Eq. 13 has no offset
      Using: on the state before each evaluation of the model, the initial noise among them and the last state not, with
      the factor of Eq. 13 alone
      Reason: our choice: Figure 4 shows the amplitude of the input of the model
      Alternatives: after each step, the last one too; an offset that aligns the middle of the two percentiles

    Takes x_T: (batch, dim); times: (n + 1,).
    Gives x: (n + 1, batch, dim).
    Axes: sum over the steps, from n down to 1.
    """
    assert x_T.ndim == 2 and times.ndim == 1 and (np.diff(times) > 0).all(), (x_T.shape, times)
    n = len(times) - 1
    x = np.empty((n + 1, *x_T.shape), dtype=np.float64)  # (n + 1, batch, dim), x[i] is the state at times[i]
    x[n] = x_T
    for i in range(n, 0, -1):
        if S is not None:
            # §3.4 — the state that the model is given, scaled to the amplitude of the teacher
            x[i] = calibrate_amplitude(x[i], S[i], config)  # (batch, dim)
        # Algorithm 1 — v = D_θ(x[i], i), with the time for the index
        v = D(x[i], np.full(len(x_T), times[i]))  # (batch, dim)
        # Eq. 4, one term of the sum — v_θ,i(t_{i−1} − t_i)
        x[i - 1] = denoise_step(x[i], v, times[i], times[i - 1])  # (batch, dim)
    return x


def search_steps(D: Velocity, x_T: np.ndarray, t: np.ndarray, M: int, config: Config) -> np.ndarray:
    r"""Algorithm 1, Eq. 8, Eq. 9, Eq. 10, Eq. 11

    Algorithm 1, Eq. 8 — \{s^M\}^o = \mathop{\arg\min}_{\{s^M\} \subset\{t^N\}}\left\lVert
      \mathcal{F}(\bm{x_T},\bm{v_\theta},\{t^N\}) - \mathcal{F}(\bm{x_T},\bm{v_\theta},\{s^M\}) \right\rVert^{2}_2

    Algorithm 1, Eq. 9 — r[j] = \mathop{\arg\min}_{j+1,...,N} \left\lVert\bm{x}[j] - \mathcal{F}(\bm{z}[i-1][r[j]],
      \bm{v_\theta}, \{r[j],j\}) \right\rVert^{2}_2

    Algorithm 1, Eq. 10 — \bm{z}[i][j] = \mathcal{F}(\bm{z}[i-1][r[j]], \bm{v_\theta}, \{r[j],j\})

    Algorithm 1, Eq. 11 — \bm{z}[i][j] = \bm{z}[i-1][r[j]] + \bm{v_{\theta}}(j-r[j])

    [UNSPECIFIED] precision
      Using: float64, which is what NumPy computes in
      Reason: our choice: no sentence speaks of number formats; the search compares close distances
      Alternatives: float32; the number format of the pretrained network

    [UNSPECIFIED] seeds
      Using: fixed seeds in the notebook; the initial noise is an argument
      Reason: our choice: no sentence names seeds; §4.1.1 has averages over settings and not over seeds
      Alternatives: several seeds

    §3.2 — "For a fixed initial noise $\bm{x_T}$, the optimal student stepsize schedule $\{s^M\}^o$ aims to minimize the
      global discretization error with the teacher generation result:"

    §3.2 — "We aim to distill a student stepsize schedule, ($\{s^M\} = \{s_{M},s_{M-1},...,s_{1},s_{0}\}$), where
      $\{s^M\}$ is a subset of $\{t^N\}$ and $M$ is smaller than $N$."

    Algorithm 1 — "$\bm{R}$.append$(\bm{r}[i][j])$"

    Algorithm 1 — "return $\bm{R}[1:]$"

    [ASSUMPTION] step lengths of Algorithm 1: the velocity times the difference of the two times, for teacher and
      student alike, and the time itself given to the model
      Reason: our choice: as printed the teacher subtracts the whole velocity and the student the velocity times the
      index of the end, with j values for N columns, which does not run; Eq. 7 and 11 have the difference of the times
      Alternatives: velocities per step of the index, with unit steps for the teacher

    [ASSUMPTION] student states before the first step: only the state at N exists before the first step, and it is the
      noise of the teacher; the other entries are never a start
      Reason: our choice: z[0][j] for zero steps is the initial noise at N alone, and Eq. 8 compares results for one
      fixed initial noise
      Alternatives: the same noise at every index, so that a student may start at any teacher time

    [ASSUMPTION] number of distinct student steps: exactly M steps of positive length; the state at N is no start after
      the first step
      Reason: our choice: Eq. 9 allows starts above j only, so that no state with one or more steps stands at N
      Alternatives: at most M steps, with the noise at N as a start in every round, as the box has it when z is filled
      once

    [PARTIALLY_SPECIFIED] distance in the search: §4.2.2 — "The $x_0$-MSE setting outperforms the default distance
      metric calculated on $x_t$."; open: whether the results with pretrained models use the default or the better one
      Using: the squared distance of the states themselves, as in Eq. 9
      Reason: our choice: the equations and Algorithm 1 compare states; the other is in a table of ablations
      Alternatives: the squared distance of reparameterised clean data

    [UNSPECIFIED] ties of the argmin
      Using: the lowest teacher step, which numpy.argmin takes first
      Reason: our choice: no sentence speaks of equal distances
      Alternatives: the highest teacher step

    Takes x_T: (dim,); t: (N + 1,); M: int.
    Gives R: (M,) int.
    Axes: squared distance summed over dim; argmin over the teacher steps above j.
    """
    N = len(t) - 1
    assert x_T.ndim == 1 and 1 <= M <= N, (x_T.shape, M, N)
    # Algorithm 1 — get teacher trajectory
    x = sample_trajectory(D, x_T[None], t, config)[:, 0]  # (N + 1, dim)
    # Algorithm 1 — student states; the noise at N alone is a start, the others are not there yet
    z = np.full((M + 1, *x.shape), np.inf)  # (M + 1, N + 1, dim)
    z[0, N] = x[N]
    r = np.zeros((M + 1, N + 1), dtype=np.int64)  # (M + 1, N + 1)
    for i in range(1, M + 1):
        # Algorithm 1 — steps N to 1 are starts, where a state exists; time 0 is none
        starts = 1 + np.flatnonzero(np.isfinite(z[i - 1, 1:]).all(axis=-1))  # (starts,), axis: dim
        v = D(z[i - 1, starts], t[starts])  # (starts, dim)
        for j in range(N - 1, -1, -1):
            above = starts > j  # (starts,), Eq. 9 — r[j] is one of j + 1, …, N
            if not above.any():
                continue
            k = starts[above]  # (candidates,)
            # Eq. 11 — z[i−1][r[j]] + v_θ(j − r[j]), for every start k that r[j] may be, with the times of both steps
            z_tmp = denoise_step(z[i - 1, k], v[above], t[k, None], t[j])  # (candidates, dim)
            # Eq. 9 — ‖x[j] − F(z[i−1][r[j]], v_θ, {r[j], j})‖²₂
            cost = ((x[j] - z_tmp) ** 2).sum(axis=-1)  # (candidates,), axis: dim
            best = cost.argmin()
            r[i, j] = k[best]
            z[i, j] = z_tmp[best]
    # Algorithm 1 — retrieve the optimal trajectory
    R = [0]
    for i in range(M, 0, -1):
        R.append(r[i, R[-1]])
    return np.array(R[1:], dtype=np.int64)  # (M,)


def average_schedule(R: np.ndarray, t: np.ndarray) -> np.ndarray:
    """§4.1.2

    [PARTIALLY_SPECIFIED] mean schedule: §4.1.2 — "Specifically, by employing 512 samples to compute the mean of the
      optimal stepsize schedule, we achieve results that closely approximate those obtained through instance-specific
      optimization, as shown in Table 3."; open: whether times or indices are averaged, and whether the mean is moved to
      a teacher time
      Using: the mean of the times of each student step, not moved to a teacher time
      Reason: our choice: a mean of increasing times is increasing, a rounded one may have equal times
      Alternatives: the mean of the indices, rounded

    Takes R: (samples, M) int; t: (N + 1,).
    Gives s: (M + 1,).
    Axes: mean over the samples.
    """
    assert R.ndim == 2, R.shape
    # §4.1.2 — "the mean of the optimal stepsize schedule"; time 0, which Algorithm 1 cuts off its list, is put back
    return np.concatenate((t[:1], t[R].mean(axis=0)))  # (M + 1,), axis: samples


def oss_ave(D: Velocity, x_T: np.ndarray, config: Config) -> np.ndarray:
    """§4.1.2

    [PARTIALLY_SPECIFIED] one schedule for one sample or for many: §4.1.2 — "This allows us to generalize to unsearched
      samples by averaging over a selected subset of instances, thereby reducing the inference overhead in a zero-shot
      manner."; open: whether the averaged schedules come from searches of one sample each
      Using: a search for one sample at a time, averaged afterwards
      Reason: our choice: the paper names instance-specific optimization and the mean of schedules
      Alternatives: one search whose distance is averaged over a batch

    Takes x_T: (samples, dim).
    Gives s: (M + 1,).
    Axes: mean over the samples.
    """
    t = uniform_times(config.search.N)  # (N + 1,)
    R = np.stack([search_steps(D, noise, t, config.search.M, config) for noise in x_T])  # (samples, M)
    return average_schedule(R, t)  # (M + 1,)


def amplitude_ranges(x: np.ndarray, config: Config) -> np.ndarray:
    """§3.4

    [PARTIALLY_SPECIFIED] amplitude of the teacher: §3.4 — "where $S_{95}$ and $S_5$ denote the quantile ranges of
      95%-5% of the teacher on 512 samples, which are calculated in advance."; open: whether the percentiles are taken
      over the elements of all samples together or averaged over samples
      Using: over the elements of all samples together, one range for each time
      Reason: our choice: one number S for each noise level is what Eq. 13 has
      Alternatives: the mean of one range for each sample

    Takes x: (n + 1, samples, dim).
    Gives S: (n + 1,).
    Axes: percentiles over samples and dim together.
    """
    n_times, samples, dim = x.shape
    low, high = np.percentile(
        x.reshape(n_times, samples * dim), (config.calibration.low, config.calibration.high), axis=-1,
        method=config.calibration.method,
    )  # (n + 1,) each, axes: samples and dim
    # §3.4 — S_95 − S_5 at every time
    return high - low  # (n + 1,)


def calibrate_amplitude(x_t: np.ndarray, S: float, config: Config) -> np.ndarray:
    r"""§3.4, Eq. 13

    §3.4, Eq. 13 — \bm{\hat{x}}_t = \frac{S_{95}-S_5}{x_{t,95}-x_{t,5}} \bm{x}_t

    [PARTIALLY_SPECIFIED] amplitude of the student: §3.4 — "$x_{t,95}$ and $x_{t,5}$ are the quantile ranges of 95% - 5%
      of the student at step $t$ during denosing."; open: over one sample or over a batch
      Using: over the elements of each sample
      Reason: our choice: then a sample does not depend on the others in its batch
      Alternatives: over the elements of the batch together

    Takes x_t: (batch, dim); S: scalar.
    Gives out: (batch, dim).
    Axes: percentiles over dim.
    """
    assert x_t.ndim == 2, x_t.shape
    low, high = np.percentile(
        x_t, (config.calibration.low, config.calibration.high), axis=-1, method=config.calibration.method, keepdims=True
    )  # (batch, 1) each, axis: dim
    spread = high - low  # (batch, 1), x_{t,95} − x_{t,5}
    # Eq. 13 — (S_95 − S_5)/(x_{t,95} − x_{t,5}) x_t
    return S / spread * x_t  # (batch, dim)
