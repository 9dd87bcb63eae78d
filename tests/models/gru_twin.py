"""The reward predictor in plain numpy, gate by gate: what the net and the kernel must give (paper, Figure 7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def predictions(state: dict[str, NDArray[np.float32]], lines: F64, mean: float, spread: float) -> F64:
    """Return [t] for ``lines`` [t, inputs] of one seat."""
    weights = {name: value.astype(np.float64) for name, value in state.items()}
    size = weights["gru.weight_hh_l0"].shape[1]
    units = [np.zeros(size), np.zeros(size)]
    result = []
    for line in lines:
        below = line
        for layer in range(2):
            below = units[layer] = _next(below, units[layer], weights, layer)
        hidden = np.maximum(weights["hidden.weight"] @ below + weights["hidden.bias"], 0)
        result.append(mean + spread * float(weights["output.weight"][0] @ hidden + weights["output.bias"][0]))
    return np.array(result)


def _next(line: F64, units: F64, weights: dict[str, F64], layer: int) -> F64:
    size = len(units)
    gates = {}
    for number, gate in enumerate("rzn"):
        part = slice(number * size, (number + 1) * size)
        gates[gate] = (
            weights[f"gru.weight_ih_l{layer}"][part] @ line + weights[f"gru.bias_ih_l{layer}"][part],
            weights[f"gru.weight_hh_l{layer}"][part] @ units + weights[f"gru.bias_hh_l{layer}"][part],
        )
    reset, update = (1 / (1 + np.exp(-sum(gates[gate]))) for gate in "rz")
    new = np.tanh(gates["n"][0] + reset * gates["n"][1])
    result: F64 = (1 - update) * new + update * units
    return result
