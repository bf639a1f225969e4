"""A model of PyTorch as it is, whose products are Tessera's from enable() to disable()."""
import sys

import torch
import tessera.torch_op

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 10)).to(device)
x, wanted = torch.randn(32, 64, device=device), torch.randint(10, (32,), device=device)


def gradients():
    model.zero_grad()
    torch.nn.functional.cross_entropy(model(x), wanted).backward()
    return [p.grad.clone() for p in model.parameters()]


theirs = gradients()
try:
    tessera.torch_op.enable(device)
except RuntimeError as missing:
    sys.exit(f"skipped: {missing}")
ours = gradients()
computed, left = tessera.torch_op.counts()
tessera.torch_op.disable()
print(f"{computed} products were ours, {left} PyTorch's")
assert computed == 5 and left == 0  # two forwards, three backwards: x needs no gradient
for one, other in zip(ours, theirs):
    assert torch.allclose(one, other, rtol=1e-4, atol=1e-6)
