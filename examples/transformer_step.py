"""One step of training of a small transformer block in PyTorch whose products are Tessera's, compared with
the same block with PyTorch's own."""
import torch
import tessera.torch_op  # noqa: F401: registers torch.ops.tessera

product = torch.ops.tessera.matmul
device = "cuda" if torch.cuda.is_available() else "cpu"


class Block(torch.nn.Module):
    def __init__(self, width, heads, matmul):
        super().__init__()
        self.heads, self.matmul = heads, matmul
        shapes = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 4 * width),
                  "down": (4 * width, width)}
        self.weights = torch.nn.ParameterDict(
            {name: torch.randn(shape) / shape[0] ** 0.5 for name, shape in shapes.items()})

    def attention(self, x):  # (batch, tokens, width)
        batch, tokens, width = x.shape
        q, k, v = (t.reshape(batch, tokens, self.heads, -1).transpose(1, 2)
                   for t in self.matmul(x, self.weights["qkv"]).chunk(3, -1))
        scores = self.matmul(q, k.transpose(-2, -1)) / q.shape[-1] ** 0.5
        mixed = self.matmul(scores.softmax(-1), v)
        return self.matmul(mixed.transpose(1, 2).reshape(x.shape), self.weights["out"])

    def forward(self, x):
        x = x + self.attention(torch.nn.functional.layer_norm(x, x.shape[-1:]))
        hidden = self.matmul(torch.nn.functional.layer_norm(x, x.shape[-1:]), self.weights["up"])
        return x + self.matmul(torch.relu(hidden), self.weights["down"])


def step(matmul):
    """The loss before and after one step, and the gradients of the weights."""
    torch.manual_seed(1)
    block = Block(64, 4, matmul).to(device)
    optimiser = torch.optim.SGD(block.parameters(), lr=0.1)
    x, target = torch.randn(2, 16, 64, device=device), torch.randn(2, 16, 64, device=device)
    before = (block(x) - target).square().mean()
    before.backward()
    gradients = [p.grad.clone() for p in block.parameters()]
    optimiser.step()
    return before.item(), (block(x) - target).square().mean().item(), gradients


ours, theirs = step(product), step(torch.matmul)
print(f"loss {ours[0]:.6f} -> {ours[1]:.6f}; with torch.matmul {theirs[0]:.6f} -> {theirs[1]:.6f}")
assert ours[1] < ours[0]
for one, other in zip(ours[2], theirs[2]):
    assert torch.allclose(one, other, rtol=1e-4, atol=1e-5)
