"""The directions that canaries have: orthonormal, and cheap to plant and to read."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Canary = Literal["auto", "random", "dirac", "null-space"]
KINDS = ("auto", "random", "dirac", "null-space")

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Coordinates that are read in every tensor, beside the canaries.
PROBES = 4
# A canary has at most this many coordinates in a tensor, so that large models cost no more than small ones.
COORDINATES = 1024


@dataclasses.dataclass(frozen=True)
class Piece:
    """The part of some directions in one tensor: a row of `coordinates` and `values` for each of `canaries`."""

    tensor: int
    canaries: Ints
    coordinates: Ints
    values: Floats


@dataclasses.dataclass(frozen=True)
class Directions:
    """Orthonormal directions over the tensors of a model, one for each canary.

    `probe_tensors` and `probe_coordinates` say which coordinates are read beside them: a few in every tensor. `probe_free` is true where no
    canary touches the coordinate.
    """

    kind: str
    canaries: int
    pieces: list[Piece]
    probe_tensors: Ints
    probe_coordinates: Ints
    probe_free: npt.NDArray[np.bool_]

    @property
    def bytes(self) -> int:
        """Memory that the directions take."""
        return sum(piece.coordinates.nbytes + piece.values.nbytes for piece in self.pieces)

    def tensors_touched(self) -> Ints:
        """In how many tensors each canary has coordinates."""
        touched = np.zeros(self.canaries, dtype=np.int64)
        for piece in self.pieces:
            touched[piece.canaries] += 1
        return touched


def available(shapes: Sequence[tuple[int, ...]]) -> int:
    """How many disjoint directions there is room for."""
    return sum(max(1, _size(shape) - _probes_of(_size(shape))) for shape in shapes)


def make(canary: Any, shapes: Sequence[tuple[int, ...]], canaries: int, seed: int) -> Directions:
    """The directions of so many canaries; `canary` names their kind, or is the one direction itself, an array for each tensor."""
    shapes = [tuple(shape) for shape in shapes]
    generator = np.random.default_rng(np.random.SeedSequence([seed], spawn_key=(2,)))
    tensors, coordinates = _probes(shapes, generator)
    if not isinstance(canary, str):
        kind, pieces = "given", _given(canary, shapes)
    elif canary in ("random", "auto"):
        kind, pieces = "random", _disjoint(shapes, canaries, tensors, coordinates, generator)
    elif canary == "dirac":
        kind, pieces = "dirac", _dirac(shapes, canaries)
    elif canary == "null-space":
        kind, pieces = "null-space", _null_space(shapes, canaries, generator)
    else:
        raise ValueError(f"canary is {canary!r}, but auto, random, dirac, null-space or one array for each tensor is allowed; check the spelling")
    free = np.ones(len(tensors), dtype=bool)
    for piece in pieces:
        here = tensors == piece.tensor
        free[here] &= ~np.isin(coordinates[here], piece.coordinates)
    return Directions(kind, canaries, pieces, tensors, coordinates, free)


def null_space_room(shapes: Sequence[tuple[int, ...]]) -> int:
    """How many null-space directions the last layer has; 0 if the last tensors are not those of a linear layer of two classes or more."""
    weight, bias = last_layer(shapes)
    return (0 if weight is None else shapes[weight][1]) + (0 if bias is None else 1)


def last_layer(shapes: Sequence[tuple[int, ...]]) -> tuple[int | None, int | None]:
    """Where weight and bias of the last linear layer are, if they are there."""
    last = len(shapes) - 1
    if last >= 0 and len(shapes[last]) == 2 and shapes[last][0] >= 2:
        return last, None
    if last < 0 or len(shapes[last]) != 1 or shapes[last][0] < 2:
        return None, None
    has_weight = last >= 1 and len(shapes[last - 1]) == 2 and shapes[last - 1][0] == shapes[last][0]
    return (last - 1 if has_weight else None), last


def _size(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def _probes_of(size: int) -> int:
    return max(1, min(PROBES, size // 2))


def _probes(shapes: list[tuple[int, ...]], generator: np.random.Generator) -> tuple[Ints, Ints]:
    chosen = [generator.choice(_size(shape), _probes_of(_size(shape)), replace=False) for shape in shapes]
    tensors = [np.full(len(found), tensor, dtype=np.int64) for tensor, found in enumerate(chosen)]
    return np.concatenate(tensors), np.concatenate(chosen).astype(np.int64)


def _disjoint(shapes: list[tuple[int, ...]], canaries: int, probe_tensors: Ints, probes: Ints, generator: np.random.Generator) -> list[Piece]:
    """Disjoint coordinates with random signs, with equal energy in every tensor that a canary touches.

    A tensor with room for all canaries has all of them. A smaller one has those that touch the fewest tensors so far. So clipping tensor by
    tensor shows wherever two tensors are large enough: a canary that touches two then answers with sqrt(2).
    """
    room = available(shapes)
    if canaries > room:
        raise ValueError(f"canaries is {canaries}, but 1 to {room} is allowed; each takes parameters of its own, so say Auditor(canaries=...)")
    touched = np.zeros(canaries, dtype=np.int64)
    pieces: list[Piece] = []
    for tensor in sorted(range(len(shapes)), key=lambda index: -_size(shapes[index])):
        size = _size(shapes[tensor])
        reserved = np.sort(probes[probe_tensors == tensor])
        if size == len(reserved):
            reserved = reserved[:0]
        hosted = min(canaries, size - len(reserved))
        each = min(COORDINATES, (size - len(reserved)) // hosted)
        chosen = generator.choice(size - len(reserved), hosted * each, replace=False).astype(np.int64)
        for probe in reserved:  # in order: counts past each reserved coordinate
            chosen += chosen >= probe
        order = np.argsort(touched + generator.random(canaries), kind="stable")[:hosted]
        touched[order] += 1
        signs = generator.choice([-1.0, 1.0], (hosted, each))
        pieces.append(Piece(tensor, order, chosen.reshape(hosted, each), signs / math.sqrt(each)))
    return [dataclasses.replace(piece, values=piece.values / np.sqrt(touched[piece.canaries])[:, None]) for piece in pieces]


def _dirac(shapes: list[tuple[int, ...]], canaries: int) -> list[Piece]:
    """One coordinate each, from the first of the last tensor on."""
    pieces, first = [], 0
    for tensor in reversed(range(len(shapes))):
        count = min(canaries - first, _size(shapes[tensor]))
        if count:
            numbers = np.arange(count, dtype=np.int64)
            pieces.append(Piece(tensor, first + numbers, numbers[:, None], np.ones((count, 1))))
        first += count
    if first < canaries:
        raise ValueError(f"canaries is {canaries}, but 1 to {first} is allowed; each takes a parameter of its own")
    return pieces


def _null_space(shapes: list[tuple[int, ...]], canaries: int, generator: np.random.Generator) -> list[Piece]:
    """Ones over the classes times orthonormal vectors over the last layer's inputs and its bias.

    Softmax does not change if all logits grow alike. So natural gradients sum to zero over the classes, and do not depend on the parameters
    along these directions. The vectors are the rows of a cosine transform whose constant column is the bias: every canary has an equal part there.
    """
    weight, bias = last_layer(shapes)
    if bias is None and weight is None:
        raise ValueError("canary is null-space, but the last parameter must be that of a linear layer of at least two classes; try random")
    room = null_space_room(shapes)
    if canaries > room:
        raise ValueError(f"canaries is {canaries}, but 1 to {room} is allowed with canary='null-space'; the last layer has no more such directions")
    classes = shapes[-1][0]
    numbers = np.arange(canaries)
    transform = np.cos(np.pi * np.outer(numbers + 0.5, numbers) / canaries) * math.sqrt(2.0 / canaries)
    transform[:, 0] = 1.0 / math.sqrt(canaries)
    pieces = []
    if bias is not None:
        everywhere = np.tile(np.arange(classes, dtype=np.int64), (canaries, 1))
        pieces.append(Piece(bias, numbers, everywhere, np.repeat(transform[:, :1], classes, 1) / math.sqrt(classes)))
        transform = transform[:, 1:]
    if transform.shape[1]:
        inputs = shapes[weight][1]  # type: ignore[index]
        columns = generator.choice(inputs, transform.shape[1], replace=False)
        coordinates = (np.arange(classes)[:, None] * inputs + columns).reshape(-1).astype(np.int64)
        pieces.append(Piece(weight, numbers, np.tile(coordinates, (canaries, 1)), np.tile(transform, (1, classes)) / math.sqrt(classes)))  # type: ignore[arg-type]
    return pieces


def _given(arrays: Any, shapes: list[tuple[int, ...]]) -> list[Piece]:
    directions = [np.asarray(array, dtype=np.float64) for array in arrays]
    if [direction.shape for direction in directions] != shapes:
        raise ValueError("canary has arrays of other shapes, but those of the parameters are allowed; one array for each")
    norm = math.sqrt(sum(float(np.sum(direction**2)) for direction in directions))
    if not (math.isfinite(norm) and norm > 0):
        raise ValueError(f"canary has norm {norm}, but a positive number is allowed; it is scaled to the clipping norm")
    zero = np.zeros(1, dtype=np.int64)
    return [
        Piece(tensor, zero, np.arange(direction.size, dtype=np.int64)[None, :], direction.reshape(1, -1) / norm)
        for tensor, direction in enumerate(directions)
    ]
