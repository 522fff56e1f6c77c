"""The training of the paper (§5.3)."""

from __future__ import annotations

from src.utils import Config


def lrate(step_num: int, config: Config) -> float:
    r"""§5.3, Eq. 3

    §5.3, Eq. 3 — lrate = d_{\text{model}}^{-0.5} \cdot\min({step\_num}^{-0.5}, {step\_num} \cdot{warmup\_steps}^{-1.5})

    §5.3, Eq. 3 — "lrate = d_{\text{model}}^{-0.5} \cdot\min({step\_num}^{-0.5}, {step\_num}
      \cdot{warmup\_steps}^{-1.5})"

    §5.3 — "This corresponds to increasing the learning rate linearly for the first $warmup\_steps$ training steps, and
      decreasing it thereafter proportionally to the inverse square root of the step number."

    [ASSUMPTION] number of the first step: steps are counted from 1
      Reason: our choice: Eq. 3 has a negative power of the step number, which is infinite at 0

    Takes step_num: int.
    Gives rate: scalar.
    """
    assert step_num >= 1, "steps are counted from 1"
    d_model, warmup_steps = config.model.d_model, config.training.warmup_steps
    # Eq. 3, factor by factor: a rise that is linear in the step, then the inverse square root
    return d_model**-0.5 * min(step_num**-0.5, step_num * warmup_steps**-1.5)
