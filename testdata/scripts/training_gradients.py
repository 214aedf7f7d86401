"""Losses and gradients of single records by PyTorch in double precision, for testdata/training_gradients.toml.

Parameters and records are formulas that the test repeats: parameter i is sin(0.7 i + 0.3) / sqrt(inputs of its layer), feature
j is the f32 nearest to (1 + sin(1.3 j + 0.1)) / 2. Parameters are numbered as misdeal stores them: layer after layer, for each
input (or tap: channel, row, column) one weight for each output, then the biases.

usage: training_gradients.py > ../training_gradients.toml     (PyTorch 2.x)
"""
import numpy as np, torch, torch.nn as nn

torch.set_default_dtype(torch.float64)

MODELS = {
    "mlp": ((600,), 100, 41, lambda: nn.Sequential(nn.Linear(600, 32), nn.ReLU(), nn.Linear(32, 100))),
    "lenet": ((1, 28, 28), 2, 1, lambda: nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 2))),
    "cnn": ((3, 32, 32), 2, 0, lambda: nn.Sequential(
        *(layer for a, b in ((3, 32), (32, 64), (64, 128)) for layer in (
            nn.Conv2d(a, b, 3, padding=1), nn.Tanh(), nn.Conv2d(b, b, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2))),
        nn.Flatten(), nn.Linear(2048, 128), nn.Tanh(), nn.Linear(128, 2))),
    "odd": ((2, 7, 9), 3, 2, lambda: nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(3, 5, 2), nn.Tanh(), nn.AvgPool2d(3),
        nn.Flatten(), nn.Linear(5, 3))),
}

def layers(net):
    return [layer for layer in net if isinstance(layer, (nn.Linear, nn.Conv2d))]

def ours(weight, bias):
    """Outputs x inputs (x rows x columns) to inputs x outputs, then the biases."""
    return torch.cat([weight.reshape(weight.shape[0], -1).T.reshape(-1), bias])

print("# Written by scripts/training_gradients.py with PyTorch", torch.__version__)
for name, (shape, classes, label, make) in MODELS.items():
    net, start = make(), 0
    for layer in layers(net):
        outputs = layer.weight.shape[0]
        inputs = layer.weight.numel() // outputs
        count = (inputs + 1) * outputs
        flat = torch.sin(0.7 * torch.arange(start, start + count) + 0.3) / inputs ** 0.5
        layer.weight.data = flat[: inputs * outputs].reshape(inputs, outputs).T.reshape(layer.weight.shape).clone()
        layer.bias.data = flat[inputs * outputs :].clone()
        start += count
    features = (0.5 * (1 + np.sin(1.3 * np.arange(int(np.prod(shape))) + 0.1))).astype(np.float32)
    x = torch.tensor(features.astype(np.float64)).reshape(1, *shape)
    loss = nn.CrossEntropyLoss()(net(x), torch.tensor([label]))
    loss.backward()
    parts = [ours(layer.weight.grad, layer.bias.grad) for layer in layers(net)]
    gradient = torch.cat(parts)
    places = [int(p) for p in np.linspace(0, start - 1, 40)]
    print(f'\n[[case]]\nmodel = "{name}"\nclasses = {classes}\nlabel = {label}\nparameters = {start}')
    print(f"loss = {loss.item()!r}\nnorm = {gradient.norm().item()!r}")
    print("layer_norms =", [part.norm().item() for part in parts])
    print("places =", places)
    print("gradient =", [gradient[p].item() for p in places])
