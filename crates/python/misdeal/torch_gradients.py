"""Canaries in the gradients of PyTorch's parameters: written before clipping, read before the step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .directions import Directions
from .planting import OVERSIZE


class TorchDirections:
    """Directions as tensors, on the device of each parameter."""

    def __init__(self, directions: Directions) -> None:
        self.directions = directions
        # Where each canary is in each piece; -1 if it is not there.
        self._rows = []
        for piece in directions.pieces:
            rows = np.full(directions.canaries + 1, -1, dtype=np.int64)
            rows[piece.canaries] = np.arange(len(piece.canaries))
            self._rows.append(rows)
        self._kept: dict[tuple[int, torch.device], tuple[torch.Tensor, torch.Tensor]] = {}

    def _piece(self, number: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Coordinates and values of a piece, copied to a device once."""
        if (number, device) not in self._kept:
            piece = self.directions.pieces[number]
            exact = torch.float32 if device.type == "mps" else torch.float64
            self._kept[number, device] = (torch.from_numpy(piece.coordinates).to(device), torch.from_numpy(piece.values).to(device, exact))
        return self._kept[number, device]

    def plant(self, parameters: Sequence[Any], roles: npt.NDArray[np.float64], clip_norm: float) -> None:
        """Replaces rows of `grad_sample` by their roles: NaN stays, 0 is zero, plus or minus k + 1 is canary k at ten times the clipping norm."""
        planted = np.flatnonzero(~np.isnan(roles))
        if not len(planted):
            return
        canaries = np.abs(roles[planted]).astype(np.int64) - 1
        factors = OVERSIZE * clip_norm * np.sign(roles[planted])
        for tensor, parameter in enumerate(parameters):
            samples = parameter.grad_sample
            first = 0
            for part, gradients in enumerate(samples if isinstance(samples, list) else [samples]):
                here = (planted >= first) & (planted < first + len(gradients))
                if not here.any():
                    first += len(gradients)
                    continue
                block = self._block(tensor, gradients, canaries[here], factors[here])
                if len(block) == len(gradients):
                    replaced = block
                else:
                    replaced = gradients
                    replaced[torch.from_numpy(planted[here] - first).to(gradients.device)] = block
                if isinstance(samples, list):
                    samples[part] = replaced
                else:
                    parameter.grad_sample = replaced
                first += len(gradients)

    def _block(self, tensor: int, gradients: torch.Tensor, canaries: npt.NDArray[np.int64], factors: npt.NDArray[np.float64]) -> torch.Tensor:
        """The planted rows of one tensor."""
        block = torch.zeros((len(canaries), *gradients.shape[1:]), dtype=gradients.dtype, device=gradients.device)
        flat = block.view(len(canaries), block[0].numel())
        for number, piece in enumerate(self.directions.pieces):
            if piece.tensor != tensor:
                continue
            rows = self._rows[number][canaries]
            there = np.flatnonzero(rows >= 0)
            if not len(there):
                continue
            coordinates, values = self._piece(number, gradients.device)
            chosen = torch.from_numpy(rows[there]).to(gradients.device)
            scale = torch.from_numpy(factors[there]).to(values)
            places = torch.from_numpy(there).to(gradients.device)[:, None]
            flat[places, coordinates[chosen]] = (values[chosen] * scale[:, None]).to(gradients.dtype)
        return block

    def read(self, parameters: Sequence[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The gradient along each canary, and at the probes."""
        along = np.zeros(self.directions.canaries)
        probes = np.zeros(len(self.directions.probe_tensors))
        flat = [None if parameter.grad is None else parameter.grad.detach().reshape(-1) for parameter in parameters]
        for number, piece in enumerate(self.directions.pieces):
            gradient = flat[piece.tensor]
            if gradient is not None:
                coordinates, values = self._piece(number, gradient.device)
                along[piece.canaries] += (gradient[coordinates].to(values) * values).sum(1).cpu().numpy()
        for tensor, gradient in enumerate(flat):
            here = self.directions.probe_tensors == tensor
            if gradient is not None:
                where = torch.from_numpy(self.directions.probe_coordinates[here]).to(gradient.device)
                probes[here] = gradient[where].to("cpu", torch.float64).numpy()
        return along, probes


def gradients_of(parameters: Sequence[Any]) -> list[int]:
    """How many gradients of records each backward pass since the last step gave; refuses parameters that have none."""
    for number, parameter in enumerate(parameters):
        samples = getattr(parameter, "grad_sample", None)
        if not (isinstance(samples, torch.Tensor) or (isinstance(samples, list) and all(isinstance(part, torch.Tensor) for part in samples))):
            raise TypeError(
                f"grad_sample is missing from parameter {number} of shape {tuple(parameter.shape)}, but gradients of every record are needed; use "
                "grad_sample_mode='hooks', and freeze parameters that the loss does not use"
            )
    samples = parameters[0].grad_sample
    return [len(part) for part in samples] if isinstance(samples, list) else [len(samples)]


def sums_to_zero_over_classes(parameters: Sequence[Any], tensors: Sequence[int]) -> bool:
    """Whether natural gradients of the last layer sum to zero over its classes, as those of a softmax classifier do."""
    for tensor in tensors:
        samples = parameters[tensor].grad_sample
        for gradients in samples if isinstance(samples, list) else [samples]:
            if gradients.numel() and float(gradients.sum(1).abs().max()) > 1e-3 * float(gradients.abs().max()):
                return False
    return True
