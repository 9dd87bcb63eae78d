"""The reward predictor a line at a time, without torch: what simulators need when a kyoku ends.

The units of the GRU are kept from kyoku to kyoku, so that no game is read twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.jit import jit

F32: TypeAlias = NDArray[np.float32]

NUM_LAYERS = 2


class PredictorWeights(NamedTuple):
    """Weights of a ``RewardPredictor`` as float32 arrays, matrices as [in, out]."""

    inputs_1: F32
    """[NUM_GAME_PROGRESS_INPUTS, 3 * units]: reset, update and new gate, as torch has them."""
    units_1: F32
    """[units, 3 * units]."""
    input_biases_1: F32
    unit_biases_1: F32
    inputs_2: F32
    units_2: F32
    input_biases_2: F32
    unit_biases_2: F32
    hidden: F32
    """[units, hidden]."""
    hidden_biases: F32
    output: F32
    """[hidden]."""
    output_bias: float
    mean: float
    """Of the points that are predicted."""
    spread: float

    @property
    def num_units(self) -> int:
        """Units of a GRU layer."""
        return len(self.units_1)


def predictor_weights(state: Mapping[str, F32], mean: float, spread: float) -> PredictorWeights:
    """Return the weights in the ``state`` dict of a ``RewardPredictor`` (as arrays) whose points have this scale."""
    arrays: dict[str, Any] = {name: np.ascontiguousarray(value.T, np.float32) for name, value in state.items()}
    layers: dict[str, Any] = {
        f"{own}_{layer + 1}": arrays[f"gru.{name}_l{layer}"]
        for layer in range(NUM_LAYERS)
        for own, name in _GRU_NAMES.items()
    }
    return PredictorWeights(
        **layers,
        hidden=arrays["hidden.weight"],
        hidden_biases=arrays["hidden.bias"],
        output=np.ascontiguousarray(arrays["output.weight"][:, 0]),
        output_bias=float(arrays["output.bias"][0]),
        mean=mean,
        spread=spread,
    )


_GRU_NAMES = {"inputs": "weight_ih", "units": "weight_hh", "input_biases": "bias_ih", "unit_biases": "bias_hh"}


@jit
def predict_next(weights: PredictorWeights, line: F32, units: F32) -> float:
    """Read one more ``line`` [NUM_GAME_PROGRESS_INPUTS], change ``units`` [2, units] and return the prediction.

    ``units`` are zero before the first line.
    """
    w = weights
    _advance(line, units[0], w.inputs_1, w.units_1, w.input_biases_1, w.unit_biases_1)
    _advance(units[0], units[1], w.inputs_2, w.units_2, w.input_biases_2, w.unit_biases_2)
    hidden = _product(units[1], w.hidden, w.hidden_biases)
    prediction = w.output_bias
    for i in range(len(hidden)):
        prediction += max(hidden[i], np.float32(0)) * w.output[i]
    return w.mean + w.spread * prediction


@jit
def _advance(line: F32, units: F32, inputs: F32, recurrent: F32, input_biases: F32, unit_biases: F32) -> None:
    """Change the ``units`` of one GRU layer by one ``line``."""
    size = len(units)
    from_line = _product(line, inputs, input_biases)
    from_units = _product(units, recurrent, unit_biases)
    for i in range(size):
        reset = _sigmoid(from_line[i] + from_units[i])
        update = _sigmoid(from_line[size + i] + from_units[size + i])
        new = math.tanh(from_line[2 * size + i] + reset * from_units[2 * size + i])
        units[i] = (1 - update) * new + update * units[i]


@jit
def _product(vector: F32, matrix: F32, biases: F32) -> F32:
    result = biases.copy()
    for i in range(len(vector)):
        factor = vector[i]
        if factor != 0:  # most of a line is
            for k in range(len(result)):
                result[k] += factor * matrix[i, k]
    return result


@jit
def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))
