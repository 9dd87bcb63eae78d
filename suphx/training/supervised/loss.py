"""The loss of supervised learning: cross-entropy over the legal actions, as pure functions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from suphx.models.device import compared_algorithms
from suphx.models.sampling import masked_logits
from suphx.training.data.feed import Batch
from suphx.training.loop.prediction import net_logits
from suphx.training.loop.worker_group import ONE_WORKER, WorkerGroup


def supervised_loss(logits: Tensor, labels: Tensor, masks: Tensor, yes_weight: float = 1.0) -> Tensor:
    """Return the mean cross-entropy of ``logits`` [n, k] against ``labels`` [n], in nats.

    ``yes_weight`` is the weight of the label 1 of a two-output head against label 0 (1: none); the mean is taken over
    the weights. With 34 outputs it must be 1.
    """
    legal = masked_logits(logits, masks)
    weight = None
    if yes_weight != 1.0:
        one = legal.new_ones(1)
        weight = torch.cat([one, one * yes_weight])  # made on the device: a CUDA graph cannot copy from the host
    return functional.cross_entropy(legal, labels.long(), weight=weight)


def sum_of_weights(labels: Tensor, yes_weight: float) -> Tensor:
    """Return the sum of the weights (0-d) over which ``supervised_loss`` takes the mean."""
    return len(labels) + (yes_weight - 1) * labels.float().sum()


_STEPS_BEFORE = 3  # in which torch compiles, cuDNN compares its algorithms, and memory is allocated


class LossGradients:
    """Consumes: batches of one size on the device. Produces: losses, and gradients in the net's parameters."""

    def __init__(
        self,
        net: nn.Module,
        *,
        is_bf16: bool,
        yes_weight: float,
        is_recorded: bool = False,
        group: WorkerGroup = ONE_WORKER,
    ) -> None:
        """``net``: in training mode whenever a loss is asked for; its parameters stay where they are.

        ``group``: of the workers over which ``net`` takes the mean of gradients. ``is_recorded``: on a GPU, replay a
        CUDA graph from the fourth batch on.
        """
        self._net = net
        self._is_bf16, self._yes_weight = is_bf16, yes_weight
        self._is_recorded, self._group = is_recorded, group
        self._num_steps = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._inputs: tuple[Tensor, ...] = ()
        self._loss = torch.empty(0)
        self._gradients: list[tuple[nn.Parameter, Tensor]] = []

    def __call__(self, batch: Batch) -> Tensor:
        """Return the loss of ``batch`` (0-d), which the next call may overwrite; older gradients are dropped."""
        inputs = (batch.planes, batch.masks, batch.labels)
        if self._is_recorded and self._num_steps == _STEPS_BEFORE:
            self._record(inputs)
        self._num_steps += 1
        if self._graph is None:
            with compared_algorithms():
                return self._loss_of(*inputs)
        for own, given in zip(self._inputs, inputs, strict=True):
            own.copy_(given)
        self._graph.replay()
        for parameter, gradient in self._gradients:  # whoever cleared them gets them back
            parameter.grad = gradient
        return self._loss

    def _record(self, inputs: tuple[Tensor, ...]) -> None:
        """Record without computing; the gradients get their places in the memory of the graph."""
        self._inputs = tuple(given.clone() for given in inputs)
        graph = torch.cuda.CUDAGraph()
        # thread_local: the thread of the feed allocates and copies meanwhile.
        with compared_algorithms(), torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._loss = self._loss_of(*self._inputs)
        self._gradients = [(each, each.grad) for each in self._net.parameters() if each.grad is not None]
        self._graph = graph

    def _loss_of(self, planes: Tensor, masks: Tensor, labels: Tensor) -> Tensor:
        self._net.zero_grad(set_to_none=True)
        loss = supervised_loss(net_logits(self._net, planes, self._is_bf16), labels, masks, self._yes_weight)
        if self._group.size > 1 and self._yes_weight != 1:  # the mean is over the weights of all workers
            weights = sum_of_weights(labels, self._yes_weight)
            loss = loss * (weights * self._group.size / self._group.sum(weights))
        torch.autograd.backward(loss)
        return loss.detach()
